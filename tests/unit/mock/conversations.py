"""Requests to the mock, and what it makes of them."""

from __future__ import annotations

import json
from typing import Any

from faultwire.events import Request
from faultwire.mock._api import Answer, Conversation
from faultwire.mock._registry import dialects
from faultwire.mock.answering import Answerer

OPENAI, ANTHROPIC, *_ = dialects().values()

CALCULATOR = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
    "required": ["city"],
}
SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SCHEMAS = {"calculator": CALCULATOR, "get_weather": WEATHER, "web_search": SEARCH}


def chat(*messages: Any, tools: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    offered = [
        {"type": "function", "function": {"name": name, "parameters": SCHEMAS[name]}} for name in tools
    ]
    return {"model": "m", "messages": said, **({"tools": offered} if offered else {}), **more}


def messages(*said: Any, tools: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in said]
    offered = [{"name": name, "input_schema": SCHEMAS[name]} for name in tools]
    base = {"model": "c", "max_tokens": 500, "messages": turns}
    return {**base, **({"tools": offered} if offered else {}), **more}


def heard(*said: Any, tools: tuple[str, ...] = (), **more: Any) -> Conversation:
    return OPENAI.read(json.dumps(chat(*said, tools=tools, **more)).encode())


def request(path: str, body: Any = None, method: str = "POST", **headers: str) -> Request:
    fields = {"authorization": "Bearer sk-x", **{k.replace("_", "-"): v for k, v in headers.items()}}
    packed = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Request(method, "http", "127.0.0.1", 0, path, tuple(fields.items()), packed)


def ask(path: str, body: Any = None, answerer: Answerer | None = None, **more: Any) -> Answer:
    return (answerer or Answerer())(request(path, body, **more))


def openai_loop(call: dict[str, Any], results: list[str], question: str) -> dict[str, Any]:
    """The second request of a tool loop: the mock's own calls, answered."""
    message = call["choices"][0]["message"]
    answered = [
        {"role": "tool", "tool_call_id": made["id"], "content": result}
        for made, result in zip(message["tool_calls"], results, strict=True)
    ]
    return chat(question, message, *answered, tools=tuple(SCHEMAS))
