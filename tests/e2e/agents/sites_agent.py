"""An agent without an SDK whose three tools are seen at three sites: `sites_agent.py PORT`.

`find` is an HTTP service on PORT, `web_search` a tool of an MCP server, `lookup` a function whose results
stand in requests to the model. Each is called twice; prints what was read of each call.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

VERSION = "2026-07-28"


def post(url: str, body: Any, **headers: str) -> dict[str, Any]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    begun = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    return {"status": status, "text": text, "seconds": time.monotonic() - begun}


def find(port: str, query: str) -> dict[str, Any]:
    return post(f"http://127.0.0.1:{port}/find", {"query": query})


def web_search(query: str) -> dict[str, Any]:
    params = {"name": "web_search", "arguments": {"query": query}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    marks = {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "web_search"}
    seen = post(
        "http://mcp.mock.test/mcp?answers=json", call, accept="application/json, text/event-stream", **marks
    )
    result = json.loads(seen["text"]).get("result", {})
    seen["text"] = "".join(block["text"] for block in result.get("content", []))
    return {**seen, "failed": result.get("isError")}


def lookup(history: list[dict[str, Any]], query: str) -> dict[str, Any]:
    """The model is asked with the tool's result; the mock repeats what it read."""
    ident = f"call_{len(history)}"
    call = {
        "id": ident,
        "type": "function",
        "function": {"name": "lookup", "arguments": json.dumps({"query": query})},
    }
    history += [
        {"role": "user", "content": f"look up {query}"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": ident, "content": json.dumps({"query": query, "score": 87})},
    ]
    body = {"model": "m", "messages": history}
    seen = post("http://api.openai.com/v1/chat/completions", body, authorization="Bearer sk-test")
    seen["text"] = json.loads(seen["text"])["choices"][0]["message"]["content"]
    history.append({"role": "assistant", "content": "noted"})
    return seen


if __name__ == "__main__":
    told: list[dict[str, Any]] = []
    print(
        json.dumps(
            {
                "http": [find(sys.argv[1], query) for query in ("tea", "milk")],
                "mcp": [web_search(query) for query in ("tea", "milk")],
                "result": [lookup(told, query) for query in ("tea", "milk")],
            }
        )
    )
