"""An agent with tools of its own process, and one that posts to a host, on a real framework.

verdict_agent.py FRAMEWORK MANNER PROMPT    FRAMEWORK: langgraph pydantic-ai openai-agents

It logs to stderr what it did itself: each tool with its arguments, each HTTP request that its client sent
with the status and the times, the tokens that its framework counted, and how it ended. MANNER: plain leaves
everything to the framework; stubborn asks again at once, six times at most; hasty once at once and once a
second later; fallback asks another model once the first has failed; silent asks nobody and prints nothing;
killed dies by a signal; unpriced asks a model whose price nobody knows, and dearer one with a price before
it. Of LangChain uncounted, which asks twice, at first for a stream without usage, and also those of
`HISTORIES`, which send a conversation that no provider accepts.
"""

import asyncio
import json
import os
import signal
import sys
import time
import warnings

import httpx2

warnings.simplefilter("ignore")
SEND, SEND_ASYNC = httpx2.Client.send, httpx2.AsyncClient.send


def log(**line):
    print("TRUTH", json.dumps(line), file=sys.stderr, flush=True)


def sent(request, started, status):
    model = json.loads(request.content or b"{}").get("model")
    times = {"started": started, "ended": time.time()}
    log(host=request.url.host, path=request.url.path, model=model, status=status, **times)


def send(self, request, **options):
    started = time.time()
    response = SEND(self, request, **options)
    sent(request, started, response.status_code)
    return response


async def send_async(self, request, **options):
    started = time.time()
    response = await SEND_ASYNC(self, request, **options)
    sent(request, started, response.status_code)
    return response


httpx2.Client.send, httpx2.AsyncClient.send = send, send_async


def search(query: str = "") -> str:
    """Looks something up."""
    log(tool="search", arguments={"query": query})
    return f"{query.capitalize()} is a drink and costs 4.20 dollars."


def send_mail(to: str = "", text: str = "") -> str:
    """Sends a mail."""
    log(tool="send_mail", arguments={"to": to, "text": text})
    return "sent"


def post(text: str = "") -> str:
    """Posts a text to the notice board."""
    log(tool="post", arguments={"text": text})
    httpx2.post("http://board.example/notices", json={"text": text})
    return "posted"


TOOLS = [search, send_mail, post]


def langgraph(prompt, model, retries):
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    client = ChatOpenAI(model=model, streaming=True, max_retries=retries)
    agent = create_react_agent(client, [tool(one) for one in TOOLS])
    messages = agent.invoke({"messages": [("user", prompt)]})["messages"]
    for used in (one.usage_metadata for one in messages if one.type == "ai" and one.usage_metadata):
        log(usage=[used["input_tokens"], used["output_tokens"]], of=model)
    return messages[-1].content


def pydantic_ai(prompt, model, retries):
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=AsyncOpenAI(max_retries=retries))
    result = Agent(OpenAIChatModel(model, provider=provider), tools=TOOLS).run_sync(prompt)
    used = result.usage() if callable(result.usage) else result.usage
    log(usage=[used.input_tokens, used.output_tokens], of=model)
    return result.output


def openai_agents(prompt, model, retries):
    from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    set_default_openai_client(AsyncOpenAI(max_retries=retries))
    agent = Agent(name="agent", model=model, tools=[function_tool(one) for one in TOOLS])
    result = asyncio.run(Runner.run(agent, prompt))
    used = result.context_wrapper.usage
    log(usage=[used.input_tokens, used.output_tokens], of=model)
    return result.final_output


STREAMING = ("langgraph",)
FRAMEWORKS = {"langgraph": langgraph, "pydantic-ai": pydantic_ai, "openai-agents": openai_agents}


def spoiled(manner, prompt):
    """Sends one conversation whose calls and results do not belong together."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    done = search("tea") if manner == "doubled" else "Tea"  # of the others no tool ran
    asked, said = HumanMessage(prompt), ToolMessage(done, tool_call_id="call_1")
    call = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "tea"}, "id": "call_1"}])
    messages = {
        "orphan": [asked, call, asked],
        "unfinished": [asked, call],
        "doubled": [asked, call, said, said],
        "loose": [asked, said],
    }[manner]
    log(history=manner)
    return ChatOpenAI(model="gpt-4o-mini").invoke(messages).content


def uncounted(prompt):
    """Asks for a stream whose tokens the provider is not asked to count, and then for an answer."""
    from langchain_openai import ChatOpenAI

    for options in ({"streaming": True, "stream_usage": False}, {}):
        said = ChatOpenAI(model="gpt-4o-mini", **options).invoke(prompt)
        used = said.usage_metadata
        log(**({"usage": [used["input_tokens"], used["output_tokens"]], "of": "gpt-4o-mini"} if used else {}))
    return said.content


TRIES = {"stubborn": 6, "hasty": 3}
HISTORIES = ("orphan", "unfinished", "doubled", "loose")


def answer(framework, manner, prompt):
    quiet = "rivers" in prompt
    if manner == "silent" and quiet:
        return ""
    if manner == "killed" and quiet:
        os.kill(os.getpid(), signal.SIGKILL)
    if manner in HISTORIES:
        return spoiled(manner, prompt)
    if manner == "uncounted":
        return uncounted(prompt)
    ask = FRAMEWORKS[framework]
    if manner in ("unpriced", "dearer"):
        if manner == "dearer":
            ask(prompt, "gpt-4o-mini", 0)
        return ask(prompt, "acme-1", 0)
    return again_and_again(ask, manner, prompt)


def again_and_again(ask, manner, prompt):
    models = ["gpt-4o-mini"] * TRIES.get(manner, 1)
    if manner == "fallback":
        models.append("gpt-4o")
    for at, model in enumerate(models, start=1):
        if manner == "hasty" and at == len(models):
            time.sleep(1)
        try:
            return ask(prompt, model, 2 if manner == "plain" else 0)
        except Exception as error:
            if at == len(models):
                log(exit=1, error=type(error).__name__)
                raise


def main():
    log(manner=sys.argv[2], streams=sys.argv[1] in STREAMING)
    text = answer(*sys.argv[1:4])
    log(exit=0, answer=text)
    print(text)


main()
