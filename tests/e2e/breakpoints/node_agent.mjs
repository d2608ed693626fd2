// An agent that has a model call a tool, in a stream: `node_agent.mjs openai|anthropic`.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const schema = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
const messages = [{ role: 'user', content: 'What is 6*7?' }];
const events = [];

async function openai() {
  const tools = [{ type: 'function', function: { name: 'calculator', parameters: schema } }];
  const stream = await new OpenAI().chat.completions.create({ model: 'gpt-4o-mini', messages, tools, stream: true });
  const calls = [];
  for await (const event of stream) {
    events.push(event.object);
    for (const one of event.choices[0]?.delta?.tool_calls ?? []) {
      calls[one.index] ??= { name: '', arguments: '' };
      calls[one.index].name += one.function?.name ?? '';
      calls[one.index].arguments += one.function?.arguments ?? '';
    }
  }
  return calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }));
}

async function anthropic() {
  const tools = [{ name: 'calculator', input_schema: schema }];
  const stream = new Anthropic().messages.stream({ model: 'claude-sonnet-4-5', max_tokens: 500, messages, tools });
  for await (const event of stream) events.push(event.type);
  const { content } = await stream.finalMessage();
  return content.filter((one) => one.type === 'tool_use').map((one) => ({ name: one.name, arguments: one.input }));
}

const calls = await { openai, anthropic }[process.argv[2]]();
console.log(JSON.stringify({ calls, events }));
