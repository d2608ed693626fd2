"""Attacks on the framing of requests, in front of servers as they are used: Go, Node, aiohttp, nginx, hyper.

`test_framing_attacks` has a server that reads leniently; these read as they do. No one gets a request that is
not on the tape, nor one that an attack has hidden in another. The control is a bare mitmdump, behind which
each of them gets two requests of one.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.attacks import bare, payloads, raw_h2
from tests.e2e.agents import compiled, environments

from faultwire.mitm.engine.client import Engine

SERVERS = Path(__file__).parents[2] / "attacks" / "servers"
ALL = payloads.h1() + payloads.h2()
WAIT_S = 5.0
CONTROL_S = 60.0
STARTS_S = 240
"""The first Go program on a machine compiles its library."""


class Real:
    """A server in a process of its own: its two ports, and the requests that it says it got."""

    def __init__(self, command: list[str], log: Path | None = None, ports: list[int] | None = None) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.ports: list[int] = ports or json.loads(self._process.stdout.readline() or "[]")
        assert len(self.ports) == 2, "the server did not start"
        self._lines: list[str] = []
        self._log = log
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(json.loads(line))

    @property
    def lines(self) -> list[str]:
        if self._log is not None:
            return [json.loads(line) for line in self._log.read_text().split("\n") if line]
        return list(self._lines)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def nginx(folder: Path, certificate: Path) -> Real:
    found = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            found.append(int(free.getsockname()[1]))
    text = (SERVERS / "nginx.conf").read_text()
    for name, value in (
        ("FOLDER", str(folder)),
        ("CERTIFICATE", str(certificate)),
        ("PLAIN", str(found[0])),
        ("SECURE", str(found[1])),
    ):
        text = text.replace(name, value)
    (folder / "nginx.conf").write_text(text)
    (folder / "access.log").touch()
    server = Real(["nginx", "-c", str(folder / "nginx.conf")], folder / "access.log", found)
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", found[1]), WAIT_S).close()
            return server


@pytest.fixture(params=["go", "node", "aiohttp", "nginx", "hyper"])
def server(request: pytest.FixtureRequest, test_ca: Any, tmp_path: Path) -> Iterator[Real]:
    test_ca.server_context("localhost")
    certificate = test_ca.folder / f"server{test_ca.made}.pem"
    name = request.param
    program = {"aiohttp": str(environments.python("aiohttp-3")), "hyper": "cargo"}.get(name, name)
    if shutil.which(program) is None:
        pytest.skip(f"`{program}` is not installed")
    if name == "nginx":
        made = nginx(tmp_path, certificate)
    elif name == "go":
        subprocess.run(
            ["go", "build", "-o", str(tmp_path / "server"), str(SERVERS / "server.go")],
            check=True,
            timeout=STARTS_S,
        )
        made = Real([str(tmp_path / "server"), str(certificate)])
    elif name == "hyper":
        (built,) = compiled.rust(SERVERS / "hyper", SERVERS / "hyper" / "server.rs", "server")
        made = Real([built, str(certificate)])
    else:
        source = SERVERS / ("server.cjs" if name == "node" else "server.py")
        made = Real([program, str(source), str(certificate)])
    yield made
    made.close()


def send_h1(sock: socket.socket, data: bytes) -> None:
    """Send it, and read until the proxy ends the connection or nothing comes any more."""
    sock.sendall(data)
    sock.settimeout(0.25)
    with contextlib.suppress(OSError):
        while piece := sock.recv(65536):
            if piece.endswith(b"ok"):
                sock.settimeout(0.05)


def attack(tools: Any, engine: Engine, server: Real, payload: Any, session: Any) -> None:
    plain, secure = server.ports
    target = f"127.0.0.1:{plain}" if isinstance(payload, payloads.H1) else f"localhost:{secure}"

    def bound(value: bytes) -> bytes:
        return bytes(value.replace(payloads.HOST, target.encode()))

    if isinstance(payload, payloads.H1):
        with tools.Client(engine, target, session=session) as client:
            send_h1(client.sock, bound(payload.data))
        return
    fields = [(name, bound(value)) for name, value in payload.fields]
    trailers = [(name, bound(value)) for name, value in payload.trailers]
    with tools.Client(engine, target, tls=True, session=session, alpn=["h2"]) as client:
        client.sock.settimeout(WAIT_S)
        client.send(raw_h2.request(fields, bound(payload.body), trailers))
        raw_h2.answer(client.sock)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_no_real_server_gets_a_request_that_is_not_on_the_tape(
    tools: Any, engine: Engine, server: Real
) -> None:
    handle = engine.open_session(tools.fresh("server"), tools.CALM, 1)
    for payload in ALL:
        attack(tools, engine, server, payload, handle)
    with tools.Client(engine, f"127.0.0.1:{server.ports[0]}", session=handle) as client:
        client.get("/control")
        assert client.response()[0] == 200
    summary = engine.close_session(handle.name)
    lines = server.lines
    assert "GET /control" in lines, "the control: it says what it gets"
    assert not [line for line in lines if payloads.MARK.decode() in line]
    assert len(lines) <= summary.exchanges
    assert summary.voids == ()


@pytest.mark.nightly
@pytest.mark.skipif(bare.REFUSES, reason="this h2 refuses the attack by itself")
def test_control_behind_a_bare_mitmdump_each_server_gets_two_requests_of_one(
    server: Real, test_ca: Any, tmp_path: Path
) -> None:
    target = f"localhost:{server.ports[1]}"
    (payload,) = (one for one in payloads.h2() if one.name == "h2-path-split")
    fields = [(name, value.replace(payloads.HOST, target.encode())) for name, value in payload.fields]
    with bare.mitmdump(tmp_path, test_ca.pem) as port, bare.by_http2(port, target, tmp_path) as sock:
        sock.settimeout(CONTROL_S)
        sock.sendall(raw_h2.request(fields))
        raw_h2.answer(sock)
        deadline = time.monotonic() + CONTROL_S
        while len(server.lines) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert server.lines == ["GET /a", f"GET /{payloads.MARK.decode()}"]
