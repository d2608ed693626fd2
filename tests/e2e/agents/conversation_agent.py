"""An agent that remembers, on one framework: asks its model turn after turn, and prints the answers as JSON.

conversation_agent.py FRAMEWORK TURN ...

FRAMEWORK is `langgraph`, `langgraph-trimming` (sends the last messages alone), `langgraph-anthropic`,
`openai-agents`, `openai-agents-kept` (the provider keeps the conversation) or `google-genai`. It has one
tool, `look`. A call that fails ends the conversation, and what it raised takes the place of the answer.
Nothing here knows faultwire.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable

warnings.simplefilter("ignore")
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
os.environ.setdefault("LANGSMITH_TRACING", "false")
INSTRUCTIONS = "You are a clerk. Remember what you are told."
Ask = Callable[[str], str]
LOOP = asyncio.new_event_loop()
"""One for all turns: the SDK keeps its connections in it."""


def look(what: str) -> str:
    """Looks something up."""
    return f"{what} is green"


def langgraph(model: object, **more: object) -> Ask:
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import MemorySaver
    from langgraph.prebuilt import create_react_agent

    agent = create_react_agent(model, [tool(look)], prompt=INSTRUCTIONS, checkpointer=MemorySaver(), **more)
    thread = {"configurable": {"thread_id": "one"}}

    def ask(text: str) -> str:
        last = agent.invoke({"messages": [("user", text)]}, thread)["messages"][-1]
        return last.text if isinstance(last.text, str) else last.text()

    return ask


def langgraph_openai() -> Ask:
    from langchain_openai import ChatOpenAI

    return langgraph(ChatOpenAI(model="gpt-4o-mini", max_retries=0))


def langgraph_trimming() -> Ask:
    """Sends its model the last messages alone, as LangGraph's guide to memory has it."""
    from langchain_core.messages import trim_messages
    from langchain_openai import ChatOpenAI

    def trim(state: dict) -> dict:
        kept = trim_messages(
            state["messages"], strategy="last", token_counter=len, max_tokens=3, start_on="human"
        )
        return {"llm_input_messages": kept}

    return langgraph(ChatOpenAI(model="gpt-4o-mini", max_retries=0), pre_model_hook=trim)


def langgraph_anthropic() -> Ask:
    from langchain_anthropic import ChatAnthropic

    return langgraph(ChatAnthropic(model="claude-sonnet-4-5", max_tokens=200, max_retries=0))


def openai_agents() -> Ask:
    from agents import Agent, Runner, SQLiteSession, function_tool

    agent = Agent(name="clerk", instructions=INSTRUCTIONS, model="gpt-4o-mini", tools=[function_tool(look)])
    session = SQLiteSession("one")

    def ask(text: str) -> str:
        return LOOP.run_until_complete(Runner.run(agent, text, session=session)).final_output

    return ask


def openai_agents_kept() -> Ask:
    from agents import Agent, Runner, function_tool

    agent = Agent(name="clerk", instructions=INSTRUCTIONS, model="gpt-4o-mini", tools=[function_tool(look)])
    before: list[str | None] = [None]

    def ask(text: str) -> str:
        result = LOOP.run_until_complete(Runner.run(agent, text, previous_response_id=before[0]))
        before[0] = result.last_response_id
        return result.final_output

    return ask


def google_genai() -> Ask:
    from google import genai
    from google.genai import types

    settings = types.GenerateContentConfig(system_instruction=INSTRUCTIONS, tools=[look])
    client = genai.Client(api_key="key-of-nobody")
    held = (
        client,
        client.chats.create(model="gemini-2.5-flash", config=settings),
    )  # it closes when it is let go

    def ask(text: str) -> str:
        return held[1].send_message(text).text

    return ask


FRAMEWORKS = {
    "langgraph": langgraph_openai,
    "langgraph-trimming": langgraph_trimming,
    "langgraph-anthropic": langgraph_anthropic,
    "openai-agents": openai_agents,
    "openai-agents-kept": openai_agents_kept,
    "google-genai": google_genai,
}
framework, *turns = sys.argv[1:]
answers: list[str] = []
ask = FRAMEWORKS[framework]()
for turn in turns:
    try:
        answers.append(ask(turn))
    except Exception as error:  # whatever its SDK raises is what this program is asked for
        answers.append(type(error).__name__)
        break
print(json.dumps({"answers": answers}))
