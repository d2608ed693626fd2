"""Serves a benchmark's tasks, in its interpreter: `python -I serve.py MODULE [ARG]…`.

Orders come as JSON, one a line, on stdin; each is answered by a line on stdout. Agents come by HTTP, on this
machine, below a name for their task that cannot be guessed:

    /NAME/mcp                  its tools by the Model Context Protocol (streamable HTTP)
    /NAME/tools                the same as JSON; POST /NAME/tools/TOOL calls one
    /NAME/v1/chat/completions  the scripted model, in the shape of OpenAI's API
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
scripted: Any = importlib.import_module("scripted")

VERSION = "2025-06-18"
LARGEST = 16 << 20
TASKS: dict[str, Any] = {}
LOCK = threading.Lock()
"""Tools change a task's state one after the other."""


class Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_line: Any) -> None:
        """Nothing: stdout is for answers."""

    def do_GET(self) -> None:
        """The list of tools."""
        name, _, rest = self.path.strip("/").partition("/")
        if name not in TASKS or rest != "tools":
            self._send(405 if rest == "mcp" else 404, {"error": "not found"})
            return
        self._send(200, {"tools": openai_tools(TASKS[name])})

    def do_POST(self) -> None:
        """MCP, a tool's call, or a chat completion."""
        name, _, rest = self.path.partition("?")[0].strip("/").partition("/")
        try:
            size = int(self.headers.get("content-length") or 0)
            asked = json.loads(self.rfile.read(size)) if 0 < size <= LARGEST else {}
        except ValueError:
            self._send(400, {"error": "expected JSON with its length"})
            return
        task = TASKS.get(name)
        if task is None or not isinstance(asked, dict):
            self._send(404, {"error": "no such task"})
        elif rest == "mcp":
            answer = mcp(task, asked)
            self._send(202 if answer is None else 200, answer)
        elif rest.startswith("tools/"):
            with LOCK:
                text, failed = task.call(rest.removeprefix("tools/"), asked)
            self._send(400 if failed else 200, text)
        elif rest.endswith("chat/completions"):
            self._send(200, scripted.completion(task.script, asked))
        else:
            self._send(404, {"error": "not found"})

    def _send(self, status: int, body: Any) -> None:
        plain = isinstance(body, str)
        data = b"" if body is None else (body if plain else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8" if plain else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def openai_tools(task: Any) -> list[dict[str, Any]]:
    """Tools as a request for a chat completion names them."""
    return [
        {
            "type": "function",
            "function": {"name": one["name"], "description": one["description"], "parameters": one["schema"]},
        }
        for one in task.tools()
    ]


def mcp(task: Any, asked: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to one message; None to a notification."""
    if "id" not in asked:
        return None
    method, params = asked.get("method"), asked.get("params") or {}
    result: dict[str, Any]
    if method == "initialize":
        info = {"name": "benchmark", "version": "1"}
        version = params.get("protocolVersion", VERSION)
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        listed = [
            {"name": one["name"], "description": one["description"], "inputSchema": one["schema"]}
            for one in task.tools()
        ]
        result = {"tools": listed}
    elif method == "tools/call":
        with LOCK:
            text, failed = task.call(str(params.get("name")), dict(params.get("arguments") or {}))
        result = {"content": [{"type": "text", "text": text}], "isError": failed}
    else:
        error = {"code": -32601, "message": "method not found"}
        return {"jsonrpc": "2.0", "id": asked["id"], "error": error}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def answer(benchmark: Any, order: dict[str, Any], port: int) -> Any:
    """What an order gives."""
    what = order.pop("do")
    if what == "about":
        return {**benchmark.about(), "port": port}
    if what == "pairs":
        return benchmark.pairs(order["version"])
    if what == "reference":
        return benchmark.reference(order)
    name = order.pop("name")
    if what == "open":
        TASKS[name] = benchmark.Task(order)
        return {**TASKS[name].describe(), "tools": [one["name"] for one in TASKS[name].tools()]}
    with LOCK:
        return TASKS.pop(name).judge(order["answer"])


def main() -> None:
    """Serve until stdin ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # whatever a package prints is no answer
    benchmark = importlib.import_module(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        try:
            found = {"found": answer(benchmark, json.loads(line), server.server_port)}
        except Exception as error:  # noqa: BLE001 - a package's error is told to whoever asked, and ends the run there
            found = {"failed": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(found) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
