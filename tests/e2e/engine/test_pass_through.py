"""What no fault touches reaches the other side as it was sent, and when it was sent."""

from __future__ import annotations

import gzip
import hashlib
import socket
import threading
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.tape.read.reader import TapeReader

TIMEOUT_S = 20


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("size", [0, 12, 2048, 1_000_000])
def test_a_body_arrives_byte_for_byte(tools: Any, request: Any, engine: Engine, tls: bool, size: int) -> None:
    server = request.getfixturevalue("tls_upstream" if tls else "upstream")
    body = hashlib.shake_128(str(size).encode()).digest(size)
    server.answer("/", body, "application/octet-stream")
    with tools.Client(engine, f"localhost:{server.port}", tls=tls) as client:
        for _ in range(3):  # on one connection
            client.get("/")
            status, headers, got = client.response()
            assert (status, headers["content-length"], got) == (200, str(size), body)
    assert len(server.asked) == 3


@pytest.mark.parametrize("size", [5, 1_000_000])
def test_a_request_body_arrives_byte_for_byte(tools: Any, engine: Engine, upstream: Any, size: int) -> None:
    upstream.answer("/", b"{}")
    body = hashlib.shake_128(b"up").digest(size)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.post("/", body)
        assert client.response()[0] == 200
    assert upstream.asked[0].body == body


def test_packed_bodies_stay_packed(tools: Any, engine: Engine, upstream: Any) -> None:
    packed = gzip.compress(b"x" * 5000)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(head + packed)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        _, headers, body = client.response()
    assert headers["content-encoding"] == "gzip"
    assert body == packed


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_the_first_event_arrives_before_the_last_is_sent(
    tools: Any, request: Any, engine: Engine, tls: bool
) -> None:
    server = request.getfixturevalue("tls_upstream" if tls else "upstream")
    seen = threading.Event()
    first, last = b'data: {"n": 1}\n\n', b"data: [DONE]\n\n"

    def stream(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head() + tools.chunk(first))
        assert seen.wait(TIMEOUT_S)
        connection.sendall(tools.chunk(last) + b"0\r\n\r\n")

    server.handlers["/"] = stream
    with tools.Client(engine, f"localhost:{server.port}", tls=tls) as client:
        client.post("/", b"{}")
        client.until(b"\r\n\r\n")
        assert client.until(first + b"\r\n").endswith(first + b"\r\n")
        seen.set()
        assert client.until(b"0\r\n\r\n") == tools.chunk(last) + b"0\r\n\r\n"


def test_a_body_without_a_length_ends_with_the_connection(tools: Any, engine: Engine, upstream: Any) -> None:
    def answer(asked: Any, connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        connection.shutdown(socket.SHUT_RDWR)

    upstream.handlers["/"] = answer
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        assert client.rest().endswith(b"\r\n\r\nuntil the end")


def test_early_hints_are_dropped_and_the_answer_comes(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    )
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        assert client.response()[::2] == (200, b"ok")


def test_trailers_do_not_disturb_what_follows(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n"
        b"3\r\nabc\r\n0\r\nx-sum: 1\r\n\r\n"
    )
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        for _ in range(2):
            client.get("/")
            assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
            assert client.until(b"\r\n\r\n") == b"3\r\nabc\r\n0\r\nx-sum: 1\r\n\r\n"


def test_absolute_form_goes_through_and_the_proxy_user_stops_here(
    tools: Any, engine: Engine, upstream: Any
) -> None:
    upstream.answer("/a", b"{}")
    handle = engine.open_session(tools.fresh("absolute"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", connect=False) as client:
        url = f"http://127.0.0.1:{upstream.port}/a"
        client.send(b"GET %s HTTP/1.1\r\nhost: x\r\n%s\r\n" % (url.encode(), tools.basic(handle)))
        assert client.response()[0] == 200
    assert upstream.asked[0].path == "/a"
    assert upstream.asked[0].header("proxy-authorization") is None
    assert engine.close_session(handle.name).exchanges == 1


def test_the_tape_holds_what_was_said(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/x", b'{"answer": 42}')
    handle = engine.open_session(tools.fresh("taped"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/x?q=1", b'{"question": 6}')
        client.response()
    summary = engine.close_session(handle.name)
    assert (summary.acknowledged, summary.exchanges, summary.voids) == (1, 1, ())
    exchange = tools.recorded(engine, handle.name)
    assert exchange.request.url == f"http://127.0.0.1:{upstream.port}/x?q=1"
    assert exchange.request.body == b'{"question": 6}'
    assert exchange.upstream is not None
    assert exchange.upstream.body == b'{"answer": 42}'
    assert exchange.ending == "complete"


def test_a_route_takes_a_host_to_another_server_and_the_tape_keeps_the_name(
    tools: Any, settings: Any, upstream: Any
) -> None:
    upstream.answer("/v1/models", b"{}")
    routed = settings.model_copy(
        update={"routes": {"api.openai.com": f"http://127.0.0.1:{upstream.port}"}, "allow_hosts": ()}
    )
    with Engine.start(routed) as engine:
        handle = engine.open_session("routed", tools.CALM, 1)
        with tools.Client(engine, "api.openai.com:443", tls=True, session=handle) as client:
            client.get("/v1/models")
            assert client.response()[0] == 200
        engine.close_session("routed")
    assert upstream.asked[0].header("host") == "api.openai.com:443"
    with TapeReader.open(settings.tape) as tape:
        (exchange,) = tape.history("routed").exchanges
    assert exchange.request.url == "https://api.openai.com/v1/models"


def test_websockets_pass_and_are_counted(tools: Any, engine: Engine, upstream: Any) -> None:
    import base64

    def echo(asked: Any, connection: Any) -> None:
        key = asked.header("sec-websocket-key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest())
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            b"sec-websocket-accept: " + accept + b"\r\n\r\n"
        )
        for _ in range(3):
            frame = connection.recv(2, 0x100)  # MSG_WAITALL
            size = frame[1] & 0x7F
            mask = connection.recv(4, 0x100)
            data = connection.recv(size, 0x100)
            plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
            connection.sendall(bytes([0x81, size]) + plain)

    upstream.handlers["/ws"] = echo
    before = engine.stats()
    handle = engine.open_session(tools.fresh("ws"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.get(
            "/ws",
            b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
            b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        )
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 101")
        for word in (b"one", b"two", b"three"):
            mask = b"\x01\x02\x03\x04"
            masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(word))
            client.send(bytes([0x81, 0x80 | len(word)]) + mask + masked)
            assert client.exactly(2 + len(word))[2:] == word
        after = engine.stats()
        assert after["live"] > 0, "it lasts until it is closed"
    assert after["websockets"] == before["websockets"] + 1
    assert after["websocket_messages"] == before["websocket_messages"] + 6
    assert engine.close_session(handle.name).exchanges == 1
    exchange = tools.recorded(engine, handle.name)
    assert [message.data for message in exchange.messages[:6:2]] == [b"one", b"two", b"three"]
    assert exchange.ending == "client_aborted", "nobody said that it is over"
    assert exchange.delivered.status == 101
