"""Uploads of any size pass through an engine that holds little of them, whatever a profile asks for."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.wire import UNREAD

SIZE = 100 << 20
MOST_MB = 128
"""What 100 MB may cost at most; an engine that holds a body until it is whole took 580 (measured)."""
BOMB_MB = 32
PREFIX = b'{"model":"m","messages":[{"role":"user","content":"'


def latency(tools: Any) -> dict[str, Any]:
    return dict(tools.profile({"fault": {"name": "latency", "settings": {"ms": 1}}, "on": {"path": "*"}}))


def peak_mb(engine: Engine) -> float:
    lines = Path(f"/proc/{engine.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def upload(client: Any, path: str, size: int, *, chunked: bool) -> str:
    """Send a body of that size, a megabyte at a time; its SHA-256."""
    digest = hashlib.sha256()
    framing = "transfer-encoding: chunked" if chunked else f"content-length: {size}"
    fields = ("content-type: application/json", framing, "", "")
    client.send("\r\n".join((f"POST {path} HTTP/1.1", f"host: {client.target}", *fields)).encode())
    sent = 0
    while sent < size:
        piece = PREFIX.ljust(1 << 20, b"x") if not sent else b"x" * min(1 << 20, size - sent)
        digest.update(piece)
        client.sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        sent += len(piece)
    if chunked:
        client.sock.sendall(b"0\r\n\r\n")
    return digest.hexdigest()


@pytest.mark.by_day("length")
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_long_body_is_not_held(tools: Any, settings: Any, upstream: Any, chunked: bool) -> None:
    upstream.answer("/v1/chat/completions", b"{}")
    with Engine.start(settings) as engine:
        handle = engine.open_session("up", latency(tools), 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
            before = peak_mb(engine)
            sent = upload(client, "/v1/chat/completions", SIZE, chunked=chunked)
            assert client.response()[0] == 200
            grown = peak_mb(engine) - before
        assert engine.close_session("up").voids == ()
        assert grown < MOST_MB, grown
        exchange = tools.recorded(engine, "up")
    (asked,) = upstream.asked
    assert (len(asked.body), hashlib.sha256(asked.body).hexdigest()) == (SIZE, sent)
    assert asked.header("content-length") == (None if chunked else str(SIZE))
    assert [fault.fault for fault in exchange.faults] == ["latency"]
    assert exchange.request.body is not None
    assert hashlib.sha256(exchange.request.body).hexdigest() == sent
    assert exchange.ending == "complete"


@pytest.mark.parametrize("size", [UNREAD - 1, UNREAD, UNREAD + 1, UNREAD + (3 << 20)])
def test_an_answer_of_a_fault_waits_for_the_end_of_the_upload(
    tools: Any, engine: Engine, upstream: Any, size: int
) -> None:
    name = tools.fresh("waits")
    fault = {"name": "status", "settings": {"code": 503}}
    handle = engine.open_session(name, tools.profile({"fault": fault, "on": {"path": "*"}}), 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        head = f"POST /v1/x HTTP/1.1\r\nhost: {client.target}\r\ncontent-length: {size}\r\n\r\n"
        client.send(head.encode() + b"x" * (size - 1))
        client.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.sock.recv(1)
        client.sock.settimeout(tools.TIMEOUT_S)
        client.sock.sendall(b"x")
        assert client.response()[0] == 503
    assert engine.close_session(name).voids == ()
    assert upstream.asked == []
    body = tools.recorded(engine, name).request.body
    assert body == b"x" * size


def bomb(plain_mb: int) -> bytes:
    pack = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join([pack.compress(b"a" * (1 << 20)) for _ in range(plain_mb)]) + pack.flush()


def test_a_bomb_is_not_unpacked_into_memory(tools: Any, settings: Any, upstream: Any) -> None:
    """300 MB in 300 KB; 32 of them were unpacked, twice, before it was found to be too long (+99 MB)."""
    body = bomb(300)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
    over = threading.Event()

    def answer(asked: Any, connection: Any) -> None:
        connection.sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        over.set()

    upstream.handlers["/v1/chat/completions"] = answer
    upstream.answer("/warm", json.dumps({"x": "y"}).encode())
    with Engine.start(settings) as engine:
        handle = engine.open_session("bomb", latency(tools), 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
            client.post("/warm", b"{}")
            assert client.response()[0] == 200
            before = peak_mb(engine)
            client.post("/v1/chat/completions", b"{}")
            assert client.response()[0] == 200
        assert over.is_set()
        assert engine.close_session("bomb").voids == ()  # the tape has looked into it by now
        assert peak_mb(engine) - before < BOMB_MB
