"""A small MCP server on stdio, on the standard library alone: tools, a notification, a question of its own.

`ask_back` asks the client for its roots before it answers, `big` says as much as it is told to, `leave` ends
it and leaves a process behind that holds its pipes, and `orders.txt` in the working directory counts what was
really ordered.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ORDERS = Path("orders.txt")
TOOLS = ("get_weather", "create_order", "list_orders", "big", "ask_back", "quit", "leave")
WAITING: dict[Any, Any] = {}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(ident: Any, words: str) -> None:
    say({"id": ident, "result": {"content": [{"type": "text", "text": words}], "isError": False}})


def call(ident: Any, name: str, arguments: dict[str, Any]) -> None:
    placed = ORDERS.read_text().splitlines() if ORDERS.exists() else []
    if name == "get_weather":
        text(ident, f"22C in {arguments.get('city')}")
    elif name == "create_order":
        ORDERS.write_text("\n".join([*placed, str(arguments.get("item"))]) + "\n")
        text(ident, f"Order A-{1001 + len(placed)} is placed.")
    elif name == "list_orders":
        text(ident, json.dumps({"count": len(placed)}))
    elif name == "big":
        text(ident, "x" * int(arguments["size"]))
    elif name == "ask_back":
        WAITING["ask-1"] = ident
        say({"method": "notifications/message", "params": {"level": "info", "data": "asking"}})
        say({"id": "ask-1", "method": "roots/list"})
    elif name == "quit":
        sys.stderr.write("the server leaves\n")
        sys.exit(7)
    elif name == "leave":
        child = subprocess.Popen(["sleep", "600"])
        sys.stderr.write(f"{child.pid}\n")
        sys.exit(8)
    else:
        say({"id": ident, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        ident, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if method == "initialize":
            info = {"name": "stdio-test", "version": "1"}
            version = params["protocolVersion"]
            said = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            say({"id": ident, "result": said})
        elif method == "tools/list":
            schema = {"type": "object"}
            tools = [{"name": n, "description": f"Does {n}.", "inputSchema": schema} for n in TOOLS]
            say({"id": ident, "result": {"tools": tools}})
        elif method == "tools/call":
            call(ident, params["name"], params.get("arguments") or {})
        elif method is None and ident in WAITING:
            text(WAITING.pop(ident), f"the client said {json.dumps(message.get('result'))}")
        elif ident is not None:
            say({"id": ident, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main()
