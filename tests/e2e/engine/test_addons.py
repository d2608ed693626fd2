"""The scripts of `addons/` in a stock mitmdump."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faultwire.tape.read import TapeReader

ADDONS = Path(__file__).parents[3] / "addons"
TIMEOUT_S = 20


@contextmanager
def mitmdump(script: str, folder: Path, *options: str) -> Iterator[int]:
    """A stock mitmdump with a script; its port."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    command = [sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()"]
    settings = [
        "connection_strategy=lazy",
        f"confdir={folder / 'confdir'}",
        "faultwire_allow_hosts=127.0.0.1",
    ]
    for setting in (*settings, *options):
        command += ["--set", setting]
    process = subprocess.Popen(
        [*command, "-s", str(ADDONS / script), "--listen-host", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
    )
    assert process.stdout is not None
    seen = b""
    try:
        for line in process.stdout:
            seen += line
            if b"listening at" in line:
                break
        else:
            raise AssertionError(seen.decode())
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert b"Addon error" not in seen + rest


class Address:
    """Where a client finds the proxy."""

    def __init__(self, port: int) -> None:
        self.port = port


def test_one_fault(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.answer("/v1/chat/completions", b"{}")
    fault = "faultwire_fault=status: {code: 503, on: {path: '*'}}"
    with (
        mitmdump("one_fault.py", tmp_path, fault) as port,
        tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client,
    ):
        client.post("/v1/chat/completions", b'{"model": "m", "messages": []}')
        assert client.response()[0] == 503
    assert upstream.asked == []


@pytest.mark.parametrize("profile", ["calm", "api_outage"])
def test_chaos(tools: Any, upstream: Any, tmp_path: Path, profile: str) -> None:
    upstream.answer("/v1/chat/completions", b'{"id": "x"}')
    statuses = []
    with mitmdump("chaos.py", tmp_path, f"faultwire_profile={profile}") as port:
        for n in range(8):
            with tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client:
                body = b'{"model": "m", "messages": [{"role": "user", "content": "%d"}]}' % n
                client.post("/v1/chat/completions", body)
                try:
                    statuses.append(client.response()[0])
                except (EOFError, ConnectionError):
                    statuses.append(0)
    assert (set(statuses) == {200}) == (profile == "calm"), statuses


def test_record(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        tools.sse_head() + tools.chunk(b"data: 1\n\n") + tools.chunk(b"data: 2\n\n") + b"0\r\n\r\n"
    )
    tape = tmp_path / "mine.tape"
    with (
        mitmdump("record.py", tmp_path, f"faultwire_tape={tape}") as port,
        tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client,
    ):
        client.post("/", b"{}")
        assert client.response()[2] == b"data: 1\n\ndata: 2\n\n"
    with TapeReader.open(tape) as reader:
        (exchange,) = reader.history("mitmdump").exchanges
    assert exchange.upstream is not None
    assert exchange.upstream.body == b"data: 1\n\ndata: 2\n\n"
    assert exchange.ending == "complete"
