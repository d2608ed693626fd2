"""How large a head, and the trailers, may be: measured on both sides of the limit, in both protocols."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import pytest

from faultwire.mitm.engine.client import Engine

LIMIT = 64 * 1024
UNDER, OVER = LIMIT - 2048, LIMIT + 2048
"""Of filling; the rest of a head takes less than 2 KiB."""
FIELD = 4000
"""No single line is what is too long."""


def filling(size: int) -> list[tuple[str, str]]:
    return [(f"x-fill-{at}", "y" * min(FIELD, size - at)) for at in range(0, size, FIELD)]


def lines(size: int) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode() for name, value in filling(size))


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize(("size", "expected"), [(UNDER, 200), (OVER, 431)])
def test_a_request_head(
    tools: Any, engine: Engine, upstream: Any, size: int, expected: int, pieces: int
) -> None:
    upstream.answer("/", b"{}")
    handle = engine.open_session(tools.fresh("head"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        head = b"GET / HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n%s\r\n" % (upstream.port, lines(size))
        step = -(-len(head) // pieces)
        for at in range(0, len(head), step):
            client.send(head[at : at + step])
        status, _, body = client.response()
    assert status == expected
    if status == 431:
        assert tools.error_of(body)["type"] == "faultwire_refused"
    assert len(upstream.asked) == (expected == 200)
    engine.close_session(handle.name)


@pytest.mark.parametrize(("size", "expected"), [(UNDER, 200), (OVER, 502)])
def test_a_response_head(tools: Any, engine: Engine, upstream: Any, size: int, expected: int) -> None:
    def serve(asked: Any, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n" + lines(size) + b"\r\nok")

    upstream.handlers["/"] = serve
    handle = engine.open_session(tools.fresh("head"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.get("/")
        status, _, body = client.response()
    assert status == expected
    if status == 502:
        assert tools.error_of(body)["type"] == "faultwire_upstream"
    engine.close_session(handle.name)


@pytest.mark.parametrize(("size", "passes"), [(UNDER, True), (OVER, False)])
def test_a_request_head_in_http2(
    tools: Any, engine: Engine, tls_upstream: Any, size: int, passes: bool
) -> None:
    tls_upstream.answer("/", b"{}")
    handle = engine.open_session(tools.fresh("head"), tools.CALM, 1)
    target = f"localhost:{tls_upstream.port}"
    with tools.Client(engine, target, tls=True, session=handle, alpn=["h2"]) as client:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        connection.initiate_connection()
        head = [(":method", "GET"), (":scheme", "https"), (":authority", target), (":path", "/")]
        connection.send_headers(1, [*head, *filling(size)], end_stream=True)
        client.send(connection.data_to_send())
        status = None
        ended = None
        while status is None and ended is None:
            data = client.sock.recv(65536)
            assert data, "the connection ended without a word"
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    status = dict(event.headers)[":status"]
                elif isinstance(event, h2.events.ConnectionTerminated | h2.events.StreamReset):
                    ended = event
    assert (status == "200") is passes
    assert len(tls_upstream.asked) == passes
    assert (ended is None) is passes, "the connection is ended with a GOAWAY"
    engine.close_session(handle.name)


@pytest.mark.parametrize(
    ("tail", "passes"),
    [
        (b"0\r\n" + lines(UNDER) + b"\r\n", True),
        (b"0\r\n" + lines(OVER) + b"\r\n", False),
        (b"0\r\nx: " + b"y" * OVER, False),
        (b"5" * OVER, False),
    ],
    ids=["trailers", "trailers over the limit", "endless trailers", "an endless line before a chunk"],
)
def test_trailers(tools: Any, engine: Engine, upstream: Any, tail: bytes, passes: bool) -> None:
    def serve(asked: Any, connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head + tools.chunk(b"ok") + tail)

    upstream.handlers["/"] = serve
    handle = engine.open_session(tools.fresh("tail"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.get("/")
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        if passes:
            assert client.until(b"\r\n\r\n") == b"2\r\nok\r\n" + tail
        else:
            with contextlib.suppress(ConnectionResetError):
                assert b"x-fill" not in client.rest()
    engine.close_session(handle.name)
    exchange = tools.recorded(engine, handle.name)
    assert (exchange.ending == "complete") is passes, exchange.ending
    if not passes:
        assert "larger than 64 KiB" in str(exchange.error)


@pytest.mark.parametrize(("size", "passes"), [(UNDER, True), (OVER, False)])
def test_trailers_of_a_request(tools: Any, engine: Engine, upstream: Any, size: int, passes: bool) -> None:
    upstream.answer("/", b"{}")
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        head = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        client.send(head + tools.chunk(b"ok") + b"0\r\n" + lines(size) + b"\r\n")
        if passes:
            assert client.response()[0] == 200
        else:
            with contextlib.suppress(ConnectionResetError):
                assert client.rest() == b""
