// The agent of `labelled_agent.py` on the AI SDK: node labelled_agent.mjs MANNER PROMPT
import { openai } from '@ai-sdk/openai';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [, , manner, prompt] = process.argv;
const log = (line) => process.stderr.write(`TRUTH ${JSON.stringify(line)}\n`);

const tools = {
  search: tool({
    description: 'Looks something up',
    inputSchema: z.object({ query: z.string() }),
    async execute({ query }) {
      log({ tool: 'search', arguments: { query } });
      return `${query.charAt(0).toUpperCase()}${query.slice(1)} is a drink and costs 4.20 dollars.`;
    },
  }),
  send_mail: tool({
    description: 'Sends a mail',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    async execute({ to, text }) {
      log({ tool: 'send_mail', arguments: { to, text } });
      return 'sent';
    },
  }),
};

async function ask() {
  let failure;
  const result = streamText({
    model: openai.chat('gpt-4o-mini'), prompt, tools, stopWhen: stepCountIs(8),
    onError({ error }) { failure ??= error; },
  });
  const text = await result.text;
  if (failure) throw failure;
  return [text, await result.finishReason];
}

try {
  let [text, reason] = await ask();
  for (let again = 0; manner === 'careful' && reason !== 'stop' && again < 2; again += 1) [text, reason] = await ask();
  log({ exit: 0, answer: text });
  console.log(text);
} catch (error) {
  log({ exit: 1, error: error.name });
  process.exitCode = 1;
}
