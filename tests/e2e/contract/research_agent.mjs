// The research agent of replays/research_agent in Node: `research_agent.mjs [MANNERS] PROMPT`. The same tools,
// the same manners, the same words, on the official OpenAI SDK for Node.
import http from "node:http";
import OpenAI from "openai";

const MANNERS = {
  careful:
    "Look facts up with `search`, and work numbers out with `calculator`. " +
    "Where a tool fails, say what you could not find out. Never invent a fact.",
  careless:
    "Look facts up with `search`, and work numbers out with `calculator`. Always give a complete answer.",
  silent: "Answer from memory.",
};
const [manners, prompt] = process.argv.slice(2);

const service = http.createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const found = JSON.parse(body).query.toLowerCase().includes("eiffel tower");
  const text = "The Eiffel Tower in Paris is 330 metres tall. It was completed in 1889.";
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ results: found ? [text] : [] }));
});
await new Promise((ready) => service.listen(0, "127.0.0.1", ready));

const tools = {
  async search({ query }) {
    const response = await fetch(`http://127.0.0.1:${service.address().port}/search`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()).results.join("\n") || "nothing found";
  },
  async calculator({ expression }) {
    const [left, right] = expression.split("*").map(Number);
    if (!Number.isFinite(left * right)) throw new Error(`cannot calculate ${expression}`);
    return String(left * right);
  },
};
const offered = Object.entries({ search: "query", calculator: "expression" }).map(([name, argument]) => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] },
  },
}));

async function called(call) {
  try {
    return await tools[call.function.name](JSON.parse(call.function.arguments));
  } catch (error) {
    return manners === "careless" ? "" : `${call.function.name} failed: ${error.message}`;
  }
}

const client = new OpenAI();
const messages = [
  { role: "system", content: MANNERS[manners] },
  { role: "user", content: prompt },
];
let answer = null;
for (let turn = 0; turn < 8 && answer === null; turn += 1) {
  const asked = { model: "gpt-4o-mini", messages, ...(manners === "silent" ? {} : { tools: offered }) };
  const { message } = (await client.chat.completions.create(asked)).choices[0];
  if (message.tool_calls?.length) {
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: await called(call) });
    }
  } else {
    answer = message.content;
  }
}
console.log(answer ?? "");
process.exit(answer === null ? 1 : 0);
