"""An agent with the tools `search` and `send_mail` on a real framework, as users write it.

labelled_agent.py FRAMEWORK MANNER PROMPT    FRAMEWORK: openai anthropic langgraph pydantic-ai openai-agents

It writes a log of its own to stderr: each tool that it ran, with the arguments, and how it ended. What is
true of a run is read there, and not on the wire. MANNER: plain leaves everything to the framework; careful
asks again where an answer has no whole end.
"""

import asyncio
import json
import sys
import warnings

warnings.simplefilter("ignore")
ATTEMPTS = 3


def log(**line):
    print("TRUTH", json.dumps(line), file=sys.stderr, flush=True)


def search(query: str = "") -> str:
    """Looks something up."""
    log(tool="search", arguments={"query": query})
    return f"{query.capitalize()} is a drink and costs 4.20 dollars."


def send_mail(to: str = "", text: str = "") -> str:
    """Sends a mail."""
    log(tool="send_mail", arguments={"to": to, "text": text})
    return "sent"


TOOLS = {"search": (search, ("query",)), "send_mail": (send_mail, ("to", "text"))}


def schema(parameters):
    return {"type": "object", "properties": {one: {"type": "string"} for one in parameters}}


def run(name, text):
    """What a loop of one's own does with half the JSON of a call: it mends it, or takes nothing."""
    for closing in ("", "}", '"}', '""}', ': ""}', '": ""}'):
        try:
            return TOOLS[name][0](**json.loads((text or "{}") + closing))
        except ValueError:
            continue
    return TOOLS[name][0]()


def openai(prompt, careful):
    from openai import OpenAI

    client, messages = OpenAI(), [{"role": "user", "content": prompt}]
    offered = [
        {"type": "function", "function": {"name": name, "parameters": schema(parameters)}}
        for name, (_, parameters) in TOOLS.items()
    ]
    for _ in range(8):
        text, calls, reason = "", [], None
        for event in client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=offered, stream=True
        ):
            choice = event.choices[0]
            text, reason = text + (choice.delta.content or ""), choice.finish_reason or reason
            for part in choice.delta.tool_calls or ():
                if part.index == len(calls):
                    function = {"name": part.function.name, "arguments": ""}
                    calls.append({"id": part.id, "type": "function", "function": function})
                calls[part.index]["function"]["arguments"] += part.function.arguments or ""
        if careful and reason not in ("stop", "tool_calls"):
            continue
        if not calls:
            return text
        messages.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        for call in calls:
            result = run(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise RuntimeError("no end")


def anthropic(prompt, careful):
    from anthropic import Anthropic

    client, messages = Anthropic(), [{"role": "user", "content": prompt}]
    offered = [
        {"name": name, "description": name, "input_schema": schema(parameters)}
        for name, (_, parameters) in TOOLS.items()
    ]
    for _ in range(8):
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages, "tools": offered}
        with client.messages.stream(**asked) as stream:
            for _event in stream:
                pass
            message = stream.current_message_snapshot
        if careful and message.stop_reason not in ("end_turn", "tool_use"):
            continue
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        content = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.input} for one in calls]
        results = [
            {"type": "tool_result", "tool_use_id": one.id, "content": TOOLS[one.name][0](**one.input)}
            for one in calls
        ]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
    raise RuntimeError("no end")


def langgraph(prompt, careful):
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    model = ChatOpenAI(model="gpt-4o-mini", streaming=True)
    agent = create_react_agent(model, [tool(search), tool(send_mail)])
    for _ in range(ATTEMPTS):
        message = agent.invoke({"messages": [("user", prompt)]})["messages"][-1]
        if not careful or message.response_metadata.get("finish_reason") == "stop":
            break
    return message.content if isinstance(message.content, str) else json.dumps(message.content)


def pydantic_ai(prompt, careful):
    from pydantic_ai import Agent

    agent = Agent("openai-chat:gpt-4o-mini", tools=[search, send_mail])
    if careful:
        return agent.run_sync(prompt).output

    async def stream():
        async with agent.run_stream(prompt) as result:
            return await result.get_output()

    return asyncio.run(stream())


def openai_agents(prompt, careful):
    from agents import Agent, Runner, function_tool

    agent = Agent(name="plain", model="gpt-4o-mini", tools=[function_tool(search), function_tool(send_mail)])

    async def stream():
        running = Runner.run_streamed(agent, prompt)
        async for _event in running.stream_events():
            pass
        return running.final_output

    if careful:
        return Runner.run_sync(agent, prompt).final_output
    return asyncio.run(stream())


FRAMEWORKS = {
    "openai": openai,
    "anthropic": anthropic,
    "langgraph": langgraph,
    "pydantic-ai": pydantic_ai,
    "openai-agents": openai_agents,
}


def main():
    framework, manner, prompt = sys.argv[1:4]
    try:
        answer = FRAMEWORKS[framework](prompt, manner == "careful")
    except Exception as error:
        log(exit=1, error=type(error).__name__)
        raise
    log(exit=0, answer=answer)
    print(answer)


main()
