// An agent on Google's Node SDK, as its own program: prints what it met as one JSON object.
//     node agent.mjs [whole stream tools]
import { GoogleGenAI } from '@google/genai';

const asked = process.argv.slice(2);
const ways = asked.length ? asked : ['whole', 'stream'];
const { models } = new GoogleGenAI({ apiKey: 'test-key-of-nobody' });
const model = 'gemini-2.5-flash';
const contents = (way) => `Tell me about rivers (node/${way}).`;

const agent = {
  async whole() {
    const answer = await models.generateContent({ model, contents: contents('whole') });
    return { text: answer.text, finish: answer.candidates?.[0]?.finishReason ?? null };
  },
  async stream(seen) {
    for await (const event of await models.generateContentStream({ model, contents: contents('stream') })) {
      seen.events += 1;
      seen.text += event.text ?? '';
      seen.finish = event.candidates?.[0]?.finishReason ?? seen.finish;
    }
    return seen;
  },
  async tools() {
    const parameters = { type: 'OBJECT', properties: { expression: { type: 'STRING' } }, required: ['expression'] };
    const tools = [{ functionDeclarations: [{ name: 'calculator', description: 'Evaluates', parameters }] }];
    const said = [{ role: 'user', parts: [{ text: 'What is 6*7?' }] }];
    const results = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await models.generateContent({ model, contents: said, config: { tools } });
      if (!answer.functionCalls?.length) return { text: answer.text, results };
      said.push(answer.candidates[0].content);
      const parts = answer.functionCalls.map(({ id, name }) => {
        results.push('42');
        return { functionResponse: { id, name, response: { result: '42' } } };
      });
      said.push({ role: 'user', parts });
    }
    return { text: null, finish: 'gave up', results };
  },
};

async function meet(way) {
  const seen = { text: '', finish: null, events: 0 };
  try {
    return await agent[way](seen);
  } catch (error) {
    return {
      ...(way === 'stream' ? seen : {}),
      error: error.constructor.name, status: error.status ?? null, message: String(error.message).slice(0, 300),
    };
  }
}

const met = await Promise.all(ways.map(async (way) => [way, await meet(way)]));
console.log(JSON.stringify(Object.fromEntries(met)));
