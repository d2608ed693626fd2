// An agent on the official Node SDKs, as its own program: prints what it met as one JSON object.
//     node agent.mjs openai|anthropic [whole stream tools first]
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const [, , provider, ...asked] = process.argv;
const ways = asked.length ? asked : ['whole', 'stream'];
const question = (way) => [{ role: 'user', content: `Tell me about rivers (node/${way}).` }];
const seconds = (since) => Number(process.hrtime.bigint() - since) / 1e9;

const openai = {
  async whole() {
    const answer = await new OpenAI().chat.completions.create({ model: 'gpt-4o-mini', messages: question('whole') });
    return { text: answer.choices[0].message.content, finish: answer.choices[0].finish_reason };
  },
  async stream(seen, announce = false) {
    const stream = await new OpenAI().chat.completions.create({
      model: 'gpt-4o-mini', messages: question('stream'), stream: true,
    });
    for await (const event of stream) {
      seen.events += 1;
      if (announce && seen.events === 1) console.log(JSON.stringify({ first: true }));
      for (const choice of event.choices) {
        seen.text += choice.delta.content ?? '';
        seen.finish = choice.finish_reason ?? seen.finish;
      }
    }
    return seen;
  },
  async tools() {
    const client = new OpenAI();
    const tools = [{ type: 'function', function: { name: 'calculator', parameters: {
      type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] } } }];
    const messages = [{ role: 'user', content: 'What is 6*7?' }];
    const results = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools });
      const { message, finish_reason: finish } = answer.choices[0];
      messages.push(message);
      if (!message.tool_calls?.length) return { text: message.content, finish, results };
      for (const call of message.tool_calls) {
        const result = JSON.stringify({ value: 42 });
        results.push(result);
        messages.push({ role: 'tool', tool_call_id: call.id, content: result });
      }
    }
    return { text: null, finish: 'gave up', results };
  },
};

const anthropic = {
  async whole() {
    const answer = await new Anthropic().messages.create({
      model: 'claude-sonnet-4-5', max_tokens: 500, messages: question('whole'),
    });
    return { text: answer.content.map((block) => block.text ?? '').join(''), finish: answer.stop_reason };
  },
  async stream(seen, announce = false) {
    const stream = await new Anthropic().messages.create({
      model: 'claude-sonnet-4-5', max_tokens: 500, messages: question('stream'), stream: true,
    });
    for await (const event of stream) {
      seen.events += 1;
      if (announce && seen.events === 1) console.log(JSON.stringify({ first: true }));
      if (event.type === 'content_block_delta') seen.text += event.delta.text ?? '';
      if (event.type === 'message_delta') seen.finish = event.delta.stop_reason;
    }
    return seen;
  },
  async tools() {
    const client = new Anthropic();
    const tools = [{ name: 'calculator', input_schema: {
      type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] } }];
    const messages = [{ role: 'user', content: 'What is 6*7?' }];
    const results = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 500, messages, tools });
      messages.push({ role: 'assistant', content: answer.content });
      const calls = answer.content.filter((block) => block.type === 'tool_use');
      if (!calls.length) {
        return { text: answer.content.map((b) => b.text ?? '').join(''), finish: answer.stop_reason, results };
      }
      messages.push({ role: 'user', content: calls.map((call) => {
        const result = JSON.stringify({ value: 42 });
        results.push(result);
        return { type: 'tool_result', tool_use_id: call.id, content: result };
      }) });
    }
    return { text: null, finish: 'gave up', results };
  },
};

openai.first = (seen) => openai.stream(seen, true);
anthropic.first = (seen) => anthropic.stream(seen, true);

async function meet(way) {
  const since = process.hrtime.bigint();
  const seen = { text: '', finish: null, events: 0 };
  try {
    return { ...(await { openai, anthropic }[provider][way](seen)), seconds: seconds(since) };
  } catch (error) {
    return {
      ...(way === 'stream' ? seen : {}),
      error: error.constructor.name, status: error.status ?? null,
      message: String(error.message).slice(0, 300), seconds: seconds(since),
    };
  }
}

const met = await Promise.all(ways.map(async (way) => [way, await meet(way)]));
console.log(JSON.stringify(Object.fromEntries(met)));
