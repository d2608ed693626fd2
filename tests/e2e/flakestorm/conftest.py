"""Projects in Flakestorm's shape, played by the command as users play them."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "contract")]

from driving import Done, faultwire  # noqa: E402


class Tools:
    """The tools of the agent, `find` and `other`; they count their calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                calls.append(self.path)
                self.send_response(200)
                self.send_header("content-length", "4")
                self.end_headers()
                self.wfile.write(b"data")

            def log_message(self, *_: object) -> None:
                """The tests read what was counted."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Project:
    """A folder with the agent and a configuration in it."""

    def __init__(self, folder: Path, tools: Tools) -> None:
        self.folder = folder
        self.tools = tools
        shutil.copy(Path(__file__).with_name("agent.py"), folder)
        (folder / "script.yaml").write_text("turns: [{reply: {text: '{last_user}'}}]\n")

    def write(self, **sections: Any) -> None:
        """The configuration with these sections; None takes one out."""
        said: dict[str, Any] = {
            "version": "2.0",
            "agent": self.command(),
            "proxy": {"mock": True, "script": "script.yaml", "allow_hosts": ["127.0.0.1"]},
            "tools": {
                "find": {"url": f"{self.tools.url}/find"},
                "other": {"url": f"{self.tools.url}/other"},
            },
            "golden_prompts": ["Say tea and milk and honey."],
            "invariants": [{"type": "output_not_empty"}],
            "advanced": {"concurrency": 2, "seed": 42},
        }
        said |= sections
        text = json.dumps({key: value for key, value in said.items() if value is not None}, indent=1)
        (self.folder / "flakestorm.yaml").write_text(text)

    def command(self) -> dict[str, Any]:
        return {
            "type": "command",
            "command": [sys.executable, "-I", "-S", "agent.py", "{prompt}"],
            "env": {"TOOLS": self.tools.url},
        }

    def server(self, **settings: Any) -> dict[str, Any]:
        """The agent as a server that is started behind the proxy."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        return {
            "type": "http",
            "endpoint": f"http://127.0.0.1:{port}/ask",
            "request_template": '{"q": "{prompt}"}',
            "response_path": "answer",
            "start": {
                "command": [sys.executable, "-I", "-S", "agent.py", "serve", str(port)],
                "ready_url": f"http://127.0.0.1:{port}/ready",
                "env": {"TOOLS": self.tools.url},
            },
            **settings,
        }

    def contract(self, *scenarios: dict[str, Any], **invariant: Any) -> dict[str, Any]:
        """A contract with one invariant and these scenarios."""
        rule = {"id": "answers", "type": "output_not_empty", "severity": "critical", **invariant}
        return {"name": "rules", "invariants": [rule], "chaos_matrix": list(scenarios)}

    def run(self, *arguments: str) -> Done:
        """`faultwire ARGUMENTS -c flakestorm.yaml`, with its report."""
        return faultwire(self.folder, *arguments, "-c", "flakestorm.yaml", "-o", "report.json")

    def bare(self, *arguments: str) -> Done:
        """`faultwire ARGUMENTS`."""
        return faultwire(self.folder, *arguments)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    tools = Tools()
    yield Project(tmp_path, tools)
    tools.stop()
