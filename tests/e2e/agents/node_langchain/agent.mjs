// An agent on LangGraph.js that streams: LangChain.js counts the tokens of what it streamed by a tokenizer
// that it fetches.
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const weather = tool(async ({ city }) => `Sunny in ${city}, 21 degrees`, {
  name: "get_weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
const agent = createReactAgent({
  llm: new ChatOpenAI({ model: "gpt-4o-mini", streaming: true }),
  tools: [weather],
});
const end = await agent.invoke({ messages: [{ role: "user", content: process.argv[2] }] });
console.log(JSON.stringify({ messages: end.messages.length, answer: end.messages.at(-1).content }));
