// An agent with a tool at each site, on the official SDKs: `agent.mjs MANNERS PORT PROMPT`.
//
// `find` is an HTTP service on PORT, `web_search` a tool of an MCP server, `lookup` a function. MANNERS:
// `careful` tells the model of failures, `careless` hides them, `silent` never calls a tool.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";

const [manners, port, prompt] = process.argv.slice(2);
const SYSTEM = {
  careful: "Use your tools. Never invent anything: say what failed.",
  careless: "Use your tools. Always give an answer.",
  silent: "Answer from memory.",
};

const tools = {
  async find(query) {
    const response = await fetch(`http://127.0.0.1:${port}/find`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return response.text();
  },
  async web_search(query) {
    const client = new Client({ name: "agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL("http://mcp.mock.test/mcp")));
    try {
      const result = await client.callTool({ name: "web_search", arguments: { query } });
      const text = result.content.map((block) => block.text ?? "").join("\n");
      if (result.isError) throw new Error(text);
      return text;
    } finally {
      await client.close();
    }
  },
  async lookup(query) {
    return JSON.stringify({ query, score: 87 });
  },
};
const offered = Object.keys(tools).map((name) => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  },
}));

async function called(call) {
  try {
    return await tools[call.function.name](JSON.parse(call.function.arguments).query);
  } catch (error) {
    return manners === "careless" ? "" : `${call.function.name} failed: ${error.message}`;
  }
}

const client = new OpenAI();
const messages = [
  { role: "system", content: SYSTEM[manners] },
  { role: "user", content: prompt },
];
for (let turn = 0; turn < 4; turn += 1) {
  const asked = { model: "gpt-4o-mini", messages, ...(manners === "silent" ? {} : { tools: offered }) };
  const { message } = (await client.chat.completions.create(asked)).choices[0];
  if (!message.tool_calls?.length) {
    console.log(message.content);
    process.exit(0);
  }
  messages.push(message);
  for (const call of message.tool_calls) {
    messages.push({ role: "tool", tool_call_id: call.id, content: await called(call) });
  }
}
console.error("no answer");
process.exit(1);
