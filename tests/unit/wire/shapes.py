"""Requests and answers as the SDKs and providers send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from faultwire.events import Request

GOLDEN = Path(__file__).parents[2] / "data" / "golden_streams"


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.sse").read_bytes()


def pack(value: Any) -> bytes:
    return json.dumps(value).encode()


def post(
    url: str, body: Any = None, *, json_type: bool = True, method: str = "POST", **headers: str
) -> Request:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    name, _, port = host.partition(":")
    fields = [(key.replace("_", "-"), value) for key, value in headers.items()]
    if json_type:
        fields.append(("Content-Type", "application/json"))
    packed = None if body is None else body if isinstance(body, bytes) else pack(body)
    number = int(port) if port else {"https": 443, "http": 80}[scheme]
    return Request(method, scheme, name, number, slash + path, tuple(fields), packed)


CHAT: dict[str, Any] = {
    "model": "gpt-x",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Paris, and 2+2?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Paris"}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "calc", "arguments": '{"e":"2+2"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"temp": 22}'},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "4"}]},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": {}}}],
    "stream": True,
}

MESSAGES: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": "Weather in Paris, and 2+2?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Paris"}},
                {"type": "tool_use", "id": "t2", "name": "calc", "input": {"e": "2+2"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": '{"temp": 22}'},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
                        },
                        {"type": "text", "text": "4", "cache_control": {"type": "ephemeral"}},
                    ],
                },
                {"type": "text", "text": "Go on."},
            ],
        },
    ],
    "tools": [{"name": "weather", "input_schema": {"type": "object"}}, {"type": "web_search", "name": "web"}],
}
