// An agent's MCP client on the official TypeScript SDK: `agent.mjs TRANSPORT URL OP…`, TRANSPORT `http` or
// `sse`. Prints one JSON line: what each operation gave, or threw.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, ...ops] = process.argv.slice(2);
const calls = {
  weather: ["get_weather", { city: "Paris" }],
  search: ["web_search", { query: "tea" }],
  order: ["create_order", { item: "tea" }],
  orders: ["list_orders", {}],
};
const raised = (error) => ({
  error: error.constructor.name,
  code: error.code ?? null,
  message: String(error.message).slice(0, 300),
});

function transport() {
  if (kind === "sse") return new SSEClientTransport(new URL(target));
  if (kind === "http") return new StreamableHTTPClientTransport(new URL(target));
  const [command, ...args] = target.split(" ");
  return new StdioClientTransport({ command, args });
}

const met = { heard: [] };
const client = new Client({ name: "agent", version: "1.0.0" });
client.fallbackNotificationHandler = async (notification) => {
  met.heard.push(notification.method);
};

async function perform(op) {
  try {
    if (op === "list") {
      const { tools } = await client.listTools(undefined, { timeout: 4000 });
      return { tools: Object.fromEntries(tools.map((tool) => [tool.name, tool.description])) };
    }
    const [name, args] = calls[op];
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 4000 });
    const text = result.content.filter((block) => block.type === "text").map((block) => block.text);
    return { text: text.join("\n"), values: result.structuredContent ?? null, failed: Boolean(result.isError) };
  } catch (error) {
    return raised(error);
  }
}

try {
  await client.connect(transport());
  for (const op of ops) {
    let key = op;
    for (let n = 2; key in met; n += 1) key = `${op}${n}`;
    met[key] = await perform(op);
  }
  await client.close();
} catch (error) {
  met.ended = raised(error);
}
console.log(JSON.stringify(met));
process.exit(0);
