"""Messages of MCP as servers send them: a valid answer of each form, to be damaged.

Source: the schema of the specification, 2025-06-18 (https://modelcontextprotocol.io/specification). Several
messages are lines of one text, the answer last; `"{id}"` stands for the id of the request.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ID = "{id}"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
BLOCKS: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": "ok"},
    "image": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    "audio": {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"},
    "resource_link": {"type": "resource_link", "uri": "file:///notes.txt", "name": "notes.txt"},
    "text_resource": {
        "type": "resource",
        "resource": {"uri": "file:///notes.txt", "mimeType": "text/plain", "text": "ok"},
    },
    "blob_resource": {
        "type": "resource",
        "resource": {"uri": "file:///dot.png", "mimeType": "image/png", "blob": PIXEL},
    },
}
"""A content block of each type."""
NOTIFICATIONS: dict[str, dict[str, Any]] = {
    "notifications/progress": {"progressToken": "p1", "progress": 0.5, "total": 1},
    "notifications/message": {"level": "info", "data": "working"},
    "notifications/tools/list_changed": {},
    "notifications/resources/list_changed": {},
    "notifications/prompts/list_changed": {},
    "notifications/resources/updated": {"uri": "file:///notes.txt"},
    "notifications/cancelled": {"requestId": 99, "reason": "no longer needed"},
}
REQUESTS: dict[str, dict[str, Any]] = {
    "ping": {},
    "roots/list": {},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "ok"}}],
        "maxTokens": 10,
    },
    "elicitation/create": {
        "message": "Go on?",
        "requestedSchema": {"type": "object", "properties": {"go": {"type": "boolean"}}},
    },
}
"""Requests of a server's to its client."""
ERRORS = (-32700, -32600, -32601, -32602, -32603, -32002, 0)
TOOL = {"name": "search", "description": "Searches.", "inputSchema": {"type": "object", "properties": {}}}


def answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to the request."""
    return {"jsonrpc": "2.0", "id": ID, "result": result}


def text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Messages as lines."""
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in messages)


def valid(method: str, seen: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Valid answers to a method by what they are; `seen` is the result that a server gave."""
    found = {f"error {code}": text_of([_error(code)]) for code in ERRORS}
    plain = answer(seen or _usual(method))
    found["seen" if seen else "usual"] = text_of([plain])
    for name, params in NOTIFICATIONS.items():
        found[name] = text_of([{"jsonrpc": "2.0", "method": name, "params": params}, plain])
    for number, (name, params) in enumerate(REQUESTS.items()):
        asked = {"jsonrpc": "2.0", "id": f"s{number}", "method": name, "params": params}
        found[name] = text_of([asked, plain])
    return {**found, **_results(method, seen)}


def _results(method: str, seen: Mapping[str, Any] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if method == "tools/call":
        for name, block in BLOCKS.items():
            found[f"block {name}"] = text_of([answer({"content": [block]})])
        found["every block"] = text_of([answer({"content": list(BLOCKS.values()), "isError": False})])
        found["no block"] = text_of([answer({"content": []})])
        found["tool's error"] = text_of([answer({"content": [BLOCKS["text"]], "isError": True})])
    elif method == "tools/list":
        tools = list((seen or _usual(method)).get("tools", ()))
        found["no tool"] = text_of([answer({"tools": []})])
        found["twice the tools"] = text_of([answer({"tools": [*tools, *tools]})])
        found["another page"] = text_of([answer({"tools": tools, "nextCursor": "2"})])
        found["a thousand tools"] = text_of(
            [answer({"tools": [*tools, *({**TOOL, "name": f"t{n}"} for n in range(1000))]})]
        )
    return found


def _usual(method: str) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "tools/call": {"content": [BLOCKS["text"]]},
        "tools/list": {"tools": [TOOL]},
        "resources/list": {"resources": []},
        "prompts/list": {"prompts": []},
    }
    return kinds.get(method, {})


def _error(code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ID, "error": {"code": code, "message": "no"}}
