"""An agent's MCP client on the official Python SDK: `mcp_agent.py TRANSPORT TARGET OP…`.

Transports: `auto` and `http` (streamable HTTP, stateless where the server can, or with a handshake), `sse`,
`stdio` (TARGET is a command). Prints one JSON line: what each operation gave, or raised.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

LIMIT_S = 4.0
CALLS = {
    "weather": ("get_weather", {"city": "Paris"}),
    "search": ("web_search", {"query": "tea"}),
    "order": ("create_order", {"item": "tea"}),
    "orders": ("list_orders", {}),
}
HEARD: list[str] = []


async def hear(message: Any) -> None:
    HEARD.append(getattr(message, "method", None) or type(message).__name__)


def raised(error: BaseException) -> dict[str, Any]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    code = getattr(getattr(error, "error", None), "code", None)
    return {"error": type(error).__name__, "code": code, "message": str(error)[:300]}


async def perform(client: Client, op: str) -> dict[str, Any]:
    try:
        if op == "list":
            listed = await client.list_tools()
            return {"tools": {tool.name: tool.description for tool in listed.tools}}
        name, arguments = CALLS[op]
        result = await client.call_tool(name, arguments)
        texts = [block.text for block in result.content if block.type == "text"]
        values = result.structured_content
        return {"text": "\n".join(texts), "values": values, "failed": bool(result.is_error)}
    except Exception as error:  # what the SDK shows its user
        return raised(error)


def target(transport: str, where: str) -> dict[str, Any]:
    if transport == "sse":
        return {"server": sse_client(where), "mode": "legacy"}
    if transport == "stdio":
        command, *args = shlex.split(where)
        return {"server": StdioServerParameters(command=command, args=args)}
    mode = "auto" if transport == "auto" else "legacy"
    return {"server": streamable_http_client(where), "mode": mode}


async def run(transport: str, where: str, ops: list[str]) -> dict[str, Any]:
    met: dict[str, Any] = {}
    try:
        with anyio.fail_after(60):
            async with Client(
                **target(transport, where), read_timeout_seconds=LIMIT_S, message_handler=hear, cache=None
            ) as client:
                met["version"] = str(client.protocol_version)
                for op in ops:
                    key = next(k for k in (op, *(f"{op}{n}" for n in range(2, 9))) if k not in met)
                    met[key] = await perform(client, op)
    except (Exception, BaseExceptionGroup) as error:  # the transport broke under the client
        met["ended"] = raised(error)
    met["heard"] = HEARD
    return met


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], sys.argv[2], sys.argv[3:]))))
