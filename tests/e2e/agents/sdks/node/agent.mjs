// Clients and SDKs of Node as programs of their own: `agent.mjs SDK WAY/CASE…`, WAY `whole` or `stream`.
// Prints one JSON object: for each case what came, or what was thrown. All cases are asked at once, each by
// a client of its own.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ChatOpenAI } from "@langchain/openai";
import { Mistral } from "@mistralai/mistralai";
import axios from "axios";
import { CohereClientV2 } from "cohere-ai";
import got from "got";
import { Ollama } from "ollama";
import { Pool } from "undici";

const [, , sdk, ...cases] = process.argv;
const key = "sk-test-key-of-nobody";
const origin = "https://api.openai.com";
const path = "/v1/chat/completions";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const said = (content) => [{ role: "user", content }];
const body = (question, stream) =>
  JSON.stringify({ model: "gpt-4o-mini", messages: said(question), stream });
const bytes = (status, text) => (status === 200 ? { text } : { error: `HTTP ${status}` });

async function gathered(events, textOf, finishOf) {
  const seen = { text: "", finish: null };
  for await (const event of events) {
    seen.text += textOf(event) ?? "";
    seen.finish = finishOf(event) ?? seen.finish;
  }
  return seen;
}

const sdks = {
  async pool(question, stream) {
    const answer = await new Pool(origin).request({ path, method: "POST", headers, body: body(question, stream) });
    return bytes(answer.statusCode, await answer.body.text());
  },
  async got(question, stream) {
    const answer = await got.post(origin + path, { http2: true, headers, body: body(question, stream) });
    return bytes(answer.statusCode, answer.body);
  },
  async axios(question, stream) {
    const answer = await axios.post(origin + path, body(question, stream), { headers, responseType: "text" });
    return bytes(answer.status, answer.data);
  },
  async ollama(question, stream) {
    const asked = { model: "llama3", messages: said(question), stream };
    const answer = await new Ollama({ host: "https://ollama.com" }).chat(asked);
    if (!stream) return { text: answer.message.content, finish: answer.done_reason };
    return gathered(answer, (e) => e.message.content, (e) => e.done_reason);
  },
  async cohere(question, stream) {
    const client = new CohereClientV2({ token: key });
    const asked = { model: "command-a-03-2025", messages: said(question) };
    if (stream) {
      return gathered(
        await client.chatStream(asked),
        (e) => (e.type === "content-delta" ? e.delta?.message?.content?.text : ""),
        (e) => (e.type === "message-end" ? e.delta?.finishReason : null),
      );
    }
    const answer = await client.chat(asked);
    return { text: answer.message.content[0].text, finish: answer.finishReason };
  },
  async mistral(question, stream) {
    const { chat } = new Mistral({ apiKey: key });
    const asked = { model: "mistral-small-latest", messages: said(question) };
    if (stream) {
      return gathered(
        await chat.stream(asked),
        (e) => e.data.choices[0]?.delta.content,
        (e) => e.data.choices[0]?.finishReason,
      );
    }
    const [choice] = (await chat.complete(asked)).choices;
    return { text: choice.message.content, finish: choice.finishReason };
  },
  async langchain(question, stream) {
    const model = new ChatOpenAI({ model: "gpt-4o-mini", apiKey: key });
    const finish = (message) => message.response_metadata?.finish_reason;
    if (stream) return gathered(await model.stream(question), (e) => e.content, finish);
    const answer = await model.invoke(question);
    return { text: answer.content, finish: finish(answer) };
  },
  async mcp(question) {
    const client = new Client({ name: "agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL("http://mcp.mock.test/mcp")));
    try {
      const asked = { name: "web_search", arguments: { query: question } };
      const answer = await client.callTool(asked, undefined, { timeout: 10000 });
      return { text: answer.content.map((block) => block.text ?? "").join("") };
    } finally {
      await client.close();
    }
  },
};

async function met(name) {
  const question = `Tell me about rivers (${name}).`;
  try {
    return await sdks[sdk](question, name.startsWith("stream/"));
  } catch (error) {
    return { error: error.constructor.name, message: String(error.message).slice(0, 200) };
  }
}

const found = await Promise.all(cases.map(async (name) => [name, await met(name)]));
process.stdout.write(`${JSON.stringify(Object.fromEntries(found))}\n`, () => process.exit(0));
