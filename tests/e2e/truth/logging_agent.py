"""An agent on a real framework that logs what it sends, gets and does: the truth of what is noticed of it.

logging_agent.py FRAMEWORK MANNER PROMPT    FRAMEWORK: those of `labelled_agent.py`

It writes lines to stderr that begin with `WIRE ` (each request of its HTTP client, with the status and the
`retry-after` of the answer) beside the `TRUTH ` lines of `labelled_agent.py`. MANNER: plain and careful are
those of that agent; catching reports whatever the framework raises and exits 0; stacked asks the framework
three times; early asks twice at once, without the SDK's own retries; single asks once, without them; silent
does so and prints nothing of what was raised; talking prints the text of an answer and looks at no call;
orphan and paired ask a model about a tool call without and with its result; posting and reading call a tool
of its own at `SHOP_URL`, once more where that failed; pinned trusts no certificate, also-pinned asks once
before that, idle asks nothing; the manners in SERIES ask several prompts, and some of
them ask a second run otherwise.
"""

import hashlib
import json
import os
import re
import runpy
import sys
import time
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

CLIENTS = [import_module(name) for name in ("httpx2", "httpx") if find_spec(name)]

SERIES = {
    "often": lambda prompt, again: [prompt] * 21,
    "two": lambda prompt, again: [prompt, "Name some lakes."],
    "fewer": lambda prompt, again: [prompt] if again else [prompt, "Name some lakes."],
    "reversed": lambda prompt, again: [prompt, "Name some lakes."][:: -1 if again else 1],
    "turned": lambda prompt, again: (
        ["Name some lakes.", prompt, "And seas?"] if again else [prompt, "Name some lakes.", "And hills?"]
    ),
    "random": lambda prompt, again: [f"{prompt} {os.urandom(8).hex()}"],
    "exiting": lambda prompt, again: [prompt],
    "quitting": lambda prompt, again: [prompt],
}
"""What is asked, `again` where this folder has seen the agent before."""
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def log(kind, **line):
    print(kind, json.dumps(line), file=sys.stderr, flush=True)


def digest(body):
    """Of what is asked: openai-agents makes the key of the provider's cache anew for each run."""
    return hashlib.sha256(re.sub(rb'"prompt_cache_key": ?"[^"]*"', b"", body)).hexdigest()[:16]


def logged(request, began, *, response=None, error=None):
    line = {"url": str(request.url), "method": request.method, "began": began, "ended": time.time()}
    line["body"] = digest(request.read())
    if response is not None:
        line |= {"status": response.status_code, "wait": response.headers.get("retry-after")}
    log("WIRE", **line, error=error and type(error).__name__)


def watch(httpx):
    """Have every request of its clients logged, whichever SDK sends it."""
    plain, waiting = httpx.Client.send, httpx.AsyncClient.send

    def send(self, request, **options):
        began = time.time()
        try:
            response = plain(self, request, **options)
        except Exception as error:  # it is the manner of this agent to catch all
            logged(request, began, error=error)
            raise
        logged(request, began, response=response)
        return response

    async def send_later(self, request, **options):
        began = time.time()
        try:
            response = await waiting(self, request, **options)
        except Exception as error:  # it is the manner of this agent to catch all
            logged(request, began, error=error)
            raise
        logged(request, began, response=response)
        return response

    httpx.Client.send, httpx.AsyncClient.send = send, send_later


def without_retries():
    """What a user writes as `max_retries=0`, for every client of the official SDKs."""
    for module in ("openai", "anthropic"):
        try:
            sdk = __import__(module)
        except ImportError:
            continue
        for name in ("OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"):
            if hasattr(sdk, name):
                getattr(sdk, name).__init__.__kwdefaults__["max_retries"] = 0


def asked(framework, manner, prompt):
    sys.argv = ["labelled_agent.py", framework, manner, prompt]
    runpy.run_path(str(Path(__file__).with_name("labelled_agent.py")), run_name="__main__")


def repeated(times, framework, prompt):
    for _ in range(times):
        try:
            return asked(framework, "plain", prompt)
        except Exception as error:  # noqa: BLE001  # it is the manner of this agent to catch all
            last = type(error).__name__
    print(f"It failed {times} times: {last}")
    return None


def in_series(framework, manner, prompt):
    marker = Path("again")
    again = marker.exists()
    marker.touch()
    for one in SERIES[manner](prompt, again):
        asked(framework, "plain", one)
    if manner == "quitting" or (manner == "exiting" and again):
        sys.exit(5)


def with_a_call(framework, *, paired):
    """Ask a model to go on after a call of a tool, whose result may be left out."""
    question = {"role": "user", "content": "What does tea cost?"}
    result = [{"role": "tool", "tool_call_id": "call_1", "content": "4.20 dollars"}] if paired else []
    called = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    messages = [question, called, *result, {"role": "user", "content": "And now?"}]
    if framework == "langgraph":
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        from langchain_openai import ChatOpenAI

        made = AIMessage(content="", tool_calls=[{"id": "call_1", "name": "search", "args": {}}])
        results = [ToolMessage(content="4.20 dollars", tool_call_id="call_1")] if paired else []
        history = [HumanMessage(question["content"]), made, *results, HumanMessage("And now?")]
        print(ChatOpenAI(model="gpt-4o-mini").invoke(history).content)
        return
    from openai import OpenAI

    print(OpenAI().chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content)


def talking(framework, prompt):
    """Print the text of one streamed answer, whatever else is in it."""
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
    messages = [{"role": "user", "content": prompt}]
    if framework == "anthropic":
        from anthropic import Anthropic

        tools = [{"name": "search", "description": "Looks something up", "input_schema": parameters}]
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages, "tools": tools}
        with Anthropic().messages.stream(**asked) as stream:
            answer = "".join(stream.text_stream)
    else:
        from openai import OpenAI

        tools = [{"type": "function", "function": {"name": "search", "parameters": parameters}}]
        events = OpenAI().chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=tools, stream=True
        )
        answer = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
    log("TRUTH", exit=0, answer=answer)
    print(answer)


def pinned(prompt):
    """An OpenAI client whose own TLS context has no roots, as one that pins its server's certificate."""
    import ssl

    from openai import APIConnectionError, OpenAI

    strict = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client = OpenAI(max_retries=0, http_client=CLIENTS[0].Client(verify=strict))
    try:
        client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": prompt}])
    except APIConnectionError as error:
        log("TRUTH", exit=0, answer="", error=type(error).__name__)


def at_the_shop(framework, method):
    """A tool of the agent's own, called by the framework and done over HTTP."""
    url = os.environ["SHOP_URL"]

    def order(item: str) -> str:
        """Orders or looks up an item."""
        body = {"json": {"item": item}} if method == "POST" else {}
        with CLIENTS[0].Client(timeout=10) as client:
            for last in (False, True):
                response = client.request(method, url, **body)
                if last or response.status_code < 500:
                    return response.raise_for_status().text

    prompt = "Order tea."
    if framework == "pydantic-ai":
        from pydantic_ai import Agent

        print(Agent("openai-chat:gpt-4o-mini", tools=[order]).run_sync(prompt).output)
    elif framework == "openai-agents":
        from agents import Agent, Runner, function_tool

        made = function_tool(order, failure_error_function=None)
        print(Runner.run_sync(Agent(name="shop", model="gpt-4o-mini", tools=[made]), prompt).final_output)
    else:
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI
        from langgraph.prebuilt import ToolNode, create_react_agent

        node = ToolNode([tool(order)], handle_tool_errors=False)
        agent = create_react_agent(ChatOpenAI(model="gpt-4o-mini"), node)
        print(agent.invoke({"messages": [("user", prompt)]})["messages"][-1].content)


def silently(framework, prompt):
    with suppress(Exception):
        asked(framework, "plain", prompt)


MANNERS = {
    "plain": lambda framework, prompt: asked(framework, "plain", prompt),
    "single": lambda framework, prompt: asked(framework, "plain", prompt),
    "careful": lambda framework, prompt: asked(framework, "careful", prompt),
    "catching": lambda framework, prompt: repeated(1, framework, prompt),
    "stacked": lambda framework, prompt: repeated(3, framework, prompt),
    "early": lambda framework, prompt: repeated(2, framework, prompt),
    "silent": silently,
    "talking": talking,
    "idle": lambda framework, prompt: log("TRUTH", exit=0, answer=""),
    "pinned": lambda framework, prompt: pinned(prompt),
    "also-pinned": lambda framework, prompt: (asked(framework, "plain", prompt), pinned(prompt)),
    "orphan": lambda framework, prompt: with_a_call(framework, paired=False),
    "paired": lambda framework, prompt: with_a_call(framework, paired=True),
    "posting": lambda framework, prompt: at_the_shop(framework, "POST"),
    "reading": lambda framework, prompt: at_the_shop(framework, "GET"),
}


def main():
    framework, manner, prompt = sys.argv[1:4]
    for client in CLIENTS:
        watch(client)
    if manner in ("early", "single", "silent"):
        without_retries()
    if manner in SERIES:
        in_series(framework, manner, prompt)
    else:
        MANNERS[manner](framework, prompt)


main()
