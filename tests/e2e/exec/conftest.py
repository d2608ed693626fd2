"""Real `faultwire` processes, each in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]
COMMAND = (sys.executable, "-m", "faultwire")
TIMEOUT_S = 120


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and an environment without anybody's proxy settings."""
    if "PYTHONPATH" in os.environ:  # a relative one is meant from where the tests were started
        parts = [os.path.abspath(part) for part in os.environ["PYTHONPATH"].split(os.pathsep)]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(
            ("FAULTWIRE_", "SSL_CERT", "NODE_", "JAVA_TOOL")
        ):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def interpreter() -> str:
    """The interpreter that runs the command."""
    return sys.executable


@pytest.fixture
def faultwire(here: Path, interpreter: str) -> Faultwire:
    """Run the command to its end and give what it printed."""

    def run(
        *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [interpreter, "-m", "faultwire", *arguments],
            cwd=here,
            env={**os.environ, **(env or {})},
            input=data,
            capture_output=True,
            timeout=TIMEOUT_S,
        )

    return run


class Hello(BaseHTTPRequestHandler):
    """Answers every GET with `hello`."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing: the test asserts on what comes out."""


@pytest.fixture
def server() -> Iterator[str]:
    """The URL of a plain HTTP server on this machine."""
    with HTTPServer(("127.0.0.1", 0), Hello) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://localhost:{httpd.server_port}/"
        httpd.shutdown()
        thread.join()
