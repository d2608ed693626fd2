"""Attacks on the framing of requests (`tests/attacks/payloads.py`): no server gets a request that is not on
the tape, by HTTP/1 nor by HTTP/2. The control is a bare mitmdump, on which some of the same attacks work."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import interpreter
from tests.attacks import bare, payloads, raw_h2

from faultwire.mitm.engine.client import Engine
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

WAIT_S = 3.0
ALL = payloads.h1() + payloads.h2()
BY_DAY = ALL[::3]


class Recorder:
    """A server that reads as leniently as any, and keeps the first line of each request it was sent."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.lines: list[bytes] = []
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            connection.settimeout(WAIT_S)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            file = connection.makefile("rb")
            while line := file.readline():
                if not line.strip():
                    continue
                self.lines.append(line.strip())
                length, chunked = 0, False
                while (field := file.readline()).strip():
                    name, _, value = field.partition(b":")
                    if name.strip().lower() == b"content-length":
                        length = int(value)
                    chunked = chunked or (
                        name.strip().lower() == b"transfer-encoding" and b"chunked" in value
                    )
                while chunked and (size := int(file.readline().strip(), 16)):
                    file.read(size + 2)
                if chunked:
                    while file.readline().strip():
                        pass
                elif length:
                    file.read(length)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        with contextlib.suppress(OSError):
            connection.close()

    def close(self) -> None:
        self._socket.close()
        self._thread.join(timeout=1)


@pytest.fixture
def servers(test_ca: Any) -> Iterator[tuple[Recorder, Recorder]]:
    plain, secure = Recorder(None), Recorder(test_ca.server_context("localhost"))
    yield plain, secure
    plain.close()
    secure.close()


def bound(value: bytes, host: bytes) -> bytes:
    return value.replace(payloads.HOST, host)


def attack_h1(sock: socket.socket, payload: payloads.H1, host: bytes) -> bytes:
    """Send it, and read what comes until the proxy ends the connection or nothing comes any more."""
    sock.sendall(bound(payload.data, host))
    sock.settimeout(0.25)
    found = b""
    with contextlib.suppress(OSError):
        while piece := sock.recv(65536):
            found += piece
            if found.endswith(b"ok"):
                sock.settimeout(0.05)
    return found


def attack_h2(sock: socket.socket, payload: payloads.H2, host: bytes) -> tuple[int | None, bytes, bool]:
    fields = [(name, bound(value, host)) for name, value in payload.fields]
    trailers = [(name, bound(value, host)) for name, value in payload.trailers]
    sock.settimeout(WAIT_S)
    sock.sendall(raw_h2.request(fields, bound(payload.body, host), trailers))
    return raw_h2.answer(sock)


def attacked(tools: Any, engine: Engine, servers: Any, chosen: list[Any]) -> None:
    plain, secure = servers
    handle = engine.open_session(tools.fresh("attack"), tools.CALM, 1)
    refused, worked = 0, []
    for payload in chosen:
        before = len(plain.lines) + len(secure.lines)
        if isinstance(payload, payloads.H1):
            target = f"127.0.0.1:{plain.port}"
            with tools.Client(engine, target, session=handle) as client:
                refused += attack_h1(client.sock, payload, target.encode()).startswith(b"HTTP/1.1 4")
        else:
            target = f"localhost:{secure.port}"
            with tools.Client(engine, target, tls=True, session=handle, alpn=["h2"]) as client:
                status, body, _ = attack_h2(client.sock, payload, target.encode())
            refused += status == 400 and b"faultwire_malformed" in body
        if len(plain.lines) + len(secure.lines) - before > 1:
            worked.append(payload.name)
    summary = engine.close_session(handle.name)
    sent = plain.lines + secure.lines
    assert worked == []
    assert not any(payloads.MARK in line for line in sent)
    assert len(sent) <= summary.exchanges
    assert summary.voids == ()
    assert refused > 0.8 * len(chosen)


def test_no_server_gets_a_request_that_is_not_on_the_tape(tools: Any, engine: Engine, servers: Any) -> None:
    assert len(BY_DAY) >= 200
    attacked(tools, engine, servers, BY_DAY)


@pytest.mark.nightly
def test_none_of_all_attacks_works(tools: Any, engine: Engine, servers: Any) -> None:
    assert len(payloads.h1()) > 250
    assert len(payloads.h2()) > 300
    attacked(tools, engine, servers, ALL)


@pytest.mark.parametrize("name", ["path-split", "method-split"])
def test_one_request_by_http2_is_refused_where_it_would_become_two(
    tools: Any, engine: Engine, servers: Any, name: str
) -> None:
    handle = engine.open_session(tools.fresh("split"), tools.CALM, 1)
    target = f"localhost:{servers[1].port}"
    (payload,) = (one for one in payloads.h2() if one.name == f"h2-{name}")
    with tools.Client(engine, target, tls=True, session=handle, alpn=["h2"]) as client:
        status, body, _ = attack_h2(client.sock, payload, target.encode())
    summary = engine.close_session(handle.name)
    assert (status, tools.error_of(body)["type"]) == (400, "faultwire_malformed")
    assert servers[1].lines == []
    assert summary.exchanges == 0
    assert summary.notes == ("1 call had a malformed or oversized head and went nowhere",)


def test_control_a_bare_mitmdump_makes_two_requests_of_one(
    servers: Any, test_ca: Any, tmp_path: Path
) -> None:
    if bare.REFUSES:
        pytest.skip("this h2 refuses the attack by itself")
    target = f"localhost:{servers[1].port}"
    (payload,) = (one for one in payloads.h2() if one.name == "h2-path-split")
    with bare.mitmdump(tmp_path, test_ca.pem) as port, bare.by_http2(port, target, tmp_path) as sock:
        attack_h2(sock, payload, target.encode())
        deadline = time.monotonic() + WAIT_S
        while len(servers[1].lines) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(servers[1].lines) == 2
    assert payloads.MARK in servers[1].lines[1]


PLANTED = """
from faultwire.mitm.compat import http2
http2.request_flaw = lambda fields: None
"""


def test_a_request_that_slips_through_voids_the_run(
    tools: Any, settings: Any, servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: validation that finds nothing."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Late:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'faultwire.mitm.engine.engine':\n"
        "            sys.meta_path.remove(self)\n"
        + "".join(f"            {line}\n" for line in PLANTED.strip().splitlines())
        + "sys.meta_path.insert(0, Late())\n"
    )
    python = interpreter.make(tmp_path / "python", [tmp_path])
    monkeypatch.setattr(sys, "executable", str(python))
    target = f"localhost:{servers[1].port}"
    (payload,) = (one for one in payloads.h2() if one.name == "h2-path-split")
    with Engine.start(settings) as engine:
        handle = engine.open_session("planted", tools.CALM, 1)
        with tools.Client(engine, target, tls=True, session=handle, alpn=["h2"]) as client:
            attack_h2(client.sock, payload, target.encode())
        summary = engine.close_session(handle.name)
        tape = engine.control.parent / "run.tape"
    why = "2 requests were written to servers, and 1 of them are recorded as exchanges"
    assert summary.voids == (why,)
    assert summary.incomplete == f"the tape is incomplete: {why}"
    report = verify(tape, KeyRing(settings.ca_dir.parent / "keys").trusted())
    assert evidence_class(report)[0] == "PARTIAL", report.findings
    with TapeReader.open(tape) as reader:
        assert len(reader.history("planted").exchanges) == 1
