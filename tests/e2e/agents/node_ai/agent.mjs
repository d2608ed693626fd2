// An agent on the AI SDK, as its own program: prints what it met as one JSON object.
//     node agent.mjs chat|responses [whole stream tools]
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [, , api, ...asked] = process.argv;
const ways = asked.length ? asked : ['whole', 'stream'];
const model = api === 'chat' ? openai.chat('gpt-4o-mini') : openai.responses('gpt-4o-mini');
const prompt = (way) => `Tell me about rivers (node/${way}).`;
const raised = (error) => ({
  error: error.name,
  cause: error.lastError?.name ?? null,
  status: error.lastError?.statusCode ?? error.statusCode ?? null,
  message: String(error.message).slice(0, 300),
});

const agent = {
  async whole() {
    const { text, finishReason: finish } = await generateText({ model, prompt: prompt('whole') });
    return { text, finish };
  },
  async stream(seen) {
    const { fullStream } = streamText({ model, prompt: prompt('stream'), onError() {} });
    for await (const part of fullStream) {
      if (part.type === 'text-delta') {
        seen.events += 1;
        seen.text += part.text;
      }
      if (part.type === 'finish') seen.finish = part.finishReason;
      if (part.type === 'error') Object.assign(seen, raised(part.error)); // told as a part; nothing is thrown
    }
    return seen;
  },
  async tools() {
    const results = [];
    const calculator = tool({
      description: 'Evaluates an arithmetic expression',
      inputSchema: z.object({ expression: z.string() }),
      async execute() {
        results.push('42');
        return '42';
      },
    });
    const { text, finishReason: finish } = await generateText({
      model, prompt: 'What is 6*7?', tools: { calculator }, stopWhen: stepCountIs(4),
    });
    return { text, finish, results };
  },
};

async function meet(way) {
  const seen = { text: '', finish: null, events: 0 };
  try {
    return await agent[way](seen);
  } catch (error) {
    return { ...(way === 'stream' ? seen : {}), ...raised(error) };
  }
}

const met = await Promise.all(ways.map(async (way) => [way, await meet(way)]));
console.log(JSON.stringify(Object.fromEntries(met)));
