"""A small agent on nothing but the standard library: a chat model by OpenAI's API, tools by MCP.

The agent of the controls. It reads a task from stdin and prints its answer. It knows no more than any other
agent: `OPENAI_BASE_URL` and `FAULTWIRE_BENCH_MCP_URL` say where its model and its tools are.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

MOST = 60
"""Answers of the model that it waits for."""
LIMIT_S = 60.0
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Its URLs are the proxy's own."""


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a server answers."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    headers["authorization"] = f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with DIRECT.open(request, timeout=LIMIT_S) as response:
        found: dict[str, Any] = json.loads(response.read() or b"{}")
    return found


def rpc(method: str, number: int, **params: Any) -> dict[str, Any]:
    """The result of a request to the MCP server."""
    url = os.environ["FAULTWIRE_BENCH_MCP_URL"]
    answer = post(url, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    result: dict[str, Any] = answer["result"]
    return result


def main() -> None:
    """Ask the model, run the tools that it calls, and print what it says in the end."""
    client = {"name": "agent", "version": "1"}
    rpc("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    tools = [
        {
            "type": "function",
            "function": {
                "name": one["name"],
                "description": one.get("description", ""),
                "parameters": one["inputSchema"],
            },
        }
        for one in rpc("tools/list", 1)["tools"]
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": sys.stdin.read()}]
    url = os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions"
    model = os.environ.get("FAULTWIRE_BENCH_MODEL", "scripted")
    for turn in range(MOST):
        message = post(url, {"model": model, "messages": messages, "tools": tools})["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            sys.stdout.write(message.get("content") or "")
            return
        for call in message["tool_calls"]:
            function = call["function"]
            arguments = json.loads(function["arguments"] or "{}")
            result = rpc("tools/call", turn + 2, name=function["name"], arguments=arguments)
            text = "\n".join(part.get("text", "") for part in result["content"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    sys.exit("the model made no end")


if __name__ == "__main__":
    main()
