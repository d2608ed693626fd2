"""A research agent on the official OpenAI SDK: `python agent.py [MANNERS] "How tall is the Eiffel Tower?"`.

It stands for somebody else's program: it imports nothing of faultwire and knows nothing of it. It has two
tools: `search`, an HTTP service, and `calculator`, a function in its own process. MANNERS says how it
takes failures:

careful    tells the model what failed, and the model to say so (the default)
careless   hides failures from the model, and wants an answer whatever happens
silent     offers no tools, and answers from memory
"""

import ast
import json
import operator
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from openai import OpenAI

MANNERS = {
    "careful": "Look facts up with `search`, and work numbers out with `calculator`. "
    "Where a tool fails, say what you could not find out. Never invent a fact.",
    "careless": "Look facts up with `search`, and work numbers out with `calculator`. "
    "Always give a complete answer.",
    "silent": "Answer from memory.",
}
TURNS = 8
"""More turns than any question needs."""


# ---------------------------------------------------------------- the search service

ENCYCLOPEDIA = {
    "eiffel tower": "The Eiffel Tower in Paris is 330 metres tall. It was completed in 1889.",
    "mount everest": "Mount Everest is 8849 metres tall.",
}


class SearchService(BaseHTTPRequestHandler):
    """A small encyclopedia: `POST /search {"query": …}`."""

    def do_POST(self) -> None:
        """Answer with what the encyclopedia says of the topics in the query."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = [text for topic, text in ENCYCLOPEDIA.items() if topic in asked["query"].lower()]
        body = json.dumps({"results": found}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: stderr is the agent's."""


def search_url() -> str:
    """The service that SEARCH_URL names, else one of our own."""
    if url := os.environ.get("SEARCH_URL"):
        return url
    server = ThreadingHTTPServer(("127.0.0.1", 0), SearchService)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/search"


# ---------------------------------------------------------------- the tools


def search(query: str) -> str:
    """Search an encyclopedia."""
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(search_url(), body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        results = json.loads(response.read())["results"]
    return "\n".join(results) or "nothing found"


OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculator(expression: str) -> str:
    """Work out `+ - * /` and brackets."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"cannot calculate {expression!r}")

    return f"{value(ast.parse(expression, mode='eval').body):g}"


TOOLS: dict[str, tuple[Callable[..., str], str]] = {
    "search": (search, "query"),
    "calculator": (calculator, "expression"),
}
OFFERED = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": run.__doc__,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"}},
                "required": [argument],
            },
        },
    }
    for name, (run, argument) in TOOLS.items()
]


def called(call: Any, manners: str) -> str:
    """What a tool gives back, or how it failed, for the model to read."""
    run, argument = TOOLS[call.function.name]
    try:
        return run(json.loads(call.function.arguments)[argument])
    except (OSError, ValueError, KeyError) as error:
        if manners == "careless":
            return ""  # this is the bug: the model cannot know that anything failed
        return f"{call.function.name} failed: {error}"


# ---------------------------------------------------------------- the agent


def answer(prompt: str, manners: str) -> str:
    """Talk with the model, and run the tools it asks for, until it answers in words."""
    client = OpenAI()
    offered = {} if manners == "silent" else {"tools": OFFERED}
    messages: list[Any] = [
        {"role": "system", "content": MANNERS[manners]},
        {"role": "user", "content": prompt},
    ]
    for _ in range(TURNS):
        said = client.chat.completions.create(model="gpt-4o-mini", messages=messages, **offered)
        message = said.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = called(call, manners)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise SystemExit(f"no answer in {TURNS} turns")


if __name__ == "__main__":
    *chosen, question = sys.argv[1:]
    sys.stdout.write(answer(question, chosen[0] if chosen else "careful") + "\n")
