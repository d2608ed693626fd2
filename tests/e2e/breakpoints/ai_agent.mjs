// An agent on the AI SDK that has a model call a tool, in a stream: `ai_agent.mjs chat|responses`.
import { openai } from '@ai-sdk/openai';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const model = process.argv[2] === 'chat' ? openai.chat('gpt-4o-mini') : openai.responses('gpt-4o-mini');
const calculator = tool({ description: 'Evaluates', inputSchema: z.object({ expression: z.string() }) });
const { fullStream } = streamText({
  model, prompt: 'What is 6*7?', tools: { calculator }, stopWhen: stepCountIs(1),
});
const calls = [];
const events = [];
for await (const part of fullStream) {
  events.push(part.type);
  if (part.type === 'error') throw part.error;
  if (part.type === 'tool-call') calls.push({ name: part.toolName, arguments: part.input });
}
console.log(JSON.stringify({ calls, events }));
