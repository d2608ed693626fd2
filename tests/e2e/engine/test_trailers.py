"""Trailers on HTTP/1.1 and HTTP/2, and dialogues in which neither side waits for the other to end."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest

from faultwire.mitm.engine.client import Engine

TRAILERS = (("grpc-status", "8"), ("grpc-message", "no more"))
BODY = b"data: 1\n\ndata: 2\n\n"


def raw(trailers: tuple[tuple[str, str], ...]) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode() for name, value in trailers)


# ---------------------------------------------------------------- HTTP/1.1


def chunked(tools: Any, content_type: str) -> Callable[[Any, socket.socket], None]:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"

    def serve(asked: Any, connection: socket.socket) -> None:
        connection.sendall(head.encode() + tools.chunk(BODY[:5]))
        connection.sendall(tools.chunk(BODY[5:]) + b"0\r\n" + raw(TRAILERS) + b"\r\n")

    return serve


def unchunked(client: Any) -> tuple[bytes, bytes]:
    """A chunked body and its trailers as they are on the wire."""
    body = b""
    while size := int(client.until(b"\r\n"), 16):
        body += client.exactly(size)
        client.exactly(2)
    trailers = b""
    while (line := client.until(b"\r\n")) != b"\r\n":
        trailers += line
    return body, trailers


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {"fault": {"name": "slow_tokens", "settings": {"ms": 1}}, "on": {"path": "*"}},
        {"fault": {"name": "malformed_body", "settings": {"mistake": "unclosed"}}, "on": {"path": "*"}},
    ],
    ids=["calm", "streamed", "held"],
)
def test_trailers_of_a_response_pass(
    tools: Any, engine: Engine, upstream: Any, entry: dict[str, Any] | None
) -> None:
    held = entry is not None and entry["fault"]["name"] == "malformed_body"
    upstream.handlers["/t"] = chunked(tools, "application/json" if held else "text/event-stream")
    profile = tools.profile(entry) if entry else tools.CALM
    handle = engine.open_session(tools.fresh("trail"), profile, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        for _ in range(2):  # the connection is in order after it
            client.get("/t")
            client.until(b"\r\n\r\n")
            assert unchunked(client) == (BODY, raw(TRAILERS))
    assert engine.close_session(handle.name).voids == ()
    with tools.TapeReader.open(engine.control.parent / "run.tape") as tape:
        for exchange in tape.history(handle.name).exchanges:
            assert exchange.upstream is not None
            assert exchange.delivered is not None
            assert exchange.upstream.trailers == exchange.delivered.trailers == TRAILERS
            assert exchange.delivered.body == BODY


def test_a_response_that_is_cut_has_no_trailers(tools: Any, engine: Engine, upstream: Any) -> None:
    """The control: they belong to the end that never came."""
    upstream.handlers["/t"] = chunked(tools, "text/event-stream")
    entry = {"fault": {"name": "cut_stream", "settings": {"after_events": 1}}, "on": {"path": "*"}}
    handle = engine.open_session(tools.fresh("trail"), tools.profile(entry), 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.get("/t")
        assert b"grpc-status" not in client.rest()
    engine.close_session(handle.name)
    assert tools.recorded(engine, handle.name).delivered.trailers == ()


def test_trailers_of_a_request_pass(tools: Any, engine: Engine, upstream: Any) -> None:
    seen: list[bytes] = []

    def serve(asked: Any, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    def read(connection: socket.socket) -> None:
        data = b""
        while not data.endswith(b"\r\n\r\n") or b"0\r\n" not in data:
            data += connection.recv(65536)
        seen.append(data)
        serve(None, connection)

    upstream._serve = read
    handle = engine.open_session(tools.fresh("trail"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.send(
            b"POST /t HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
            + tools.chunk(b"abc")
            + b"0\r\n"
            + raw(TRAILERS)
            + b"\r\n"
        )
        assert client.response()[0] == 200
    engine.close_session(handle.name)
    assert seen[0].endswith(b"3\r\nabc\r\n0\r\n" + raw(TRAILERS) + b"\r\n")


# ---------------------------------------------------------------- HTTP/2


class H2Server:
    """One stream after the other is handed to `answer` as its parts come."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.answer: Callable[[h2.connection.H2Connection, Any], None] = lambda connection, event: None
        server = self

        class Serve(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with (
                    contextlib.suppress(OSError, ssl.SSLError),
                    context.wrap_socket(self.request, server_side=True) as wrapped,
                ):
                    server._serve(wrapped)

        class Threads(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Threads(("127.0.0.1", 0), Serve)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def _serve(self, wrapped: ssl.SSLSocket) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        wrapped.sendall(connection.data_to_send())
        while data := wrapped.recv(65536):
            for event in connection.receive_data(data):
                self.answer(connection, event)
            wrapped.sendall(connection.data_to_send())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def h2_server(test_ca: Any) -> Iterator[H2Server]:
    context = test_ca.server_context("localhost", "127.0.0.1")
    context.set_alpn_protocols(["h2"])
    made = H2Server(context)
    yield made
    made.close()


class H2Client:
    """One stream of a client, whose parts are sent and read when the test says so."""

    def __init__(self, tools: Any, engine: Engine, port: int, session: Any, content_type: str) -> None:
        self.client = tools.Client(engine, f"localhost:{port}", tls=True, session=session, alpn=["h2"])
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.connection.initiate_connection()
        head = [(":method", "POST"), (":scheme", "https"), (":authority", f"localhost:{port}")]
        head += [(":path", "/pkg.Service/Talk"), ("content-type", content_type), ("te", "trailers")]
        self.connection.send_headers(1, head)
        self.body = b""
        self.head: dict[str, str] = {}
        self.trailers: tuple[tuple[str, str], ...] = ()
        self.ended = False
        self.flush()

    def flush(self) -> None:
        self.client.send(self.connection.data_to_send())

    def say(self, data: bytes, *, last: bool = False) -> None:
        self.connection.send_data(1, data, end_stream=last)
        self.flush()

    def until(self, enough: Callable[[], bool]) -> None:
        while not enough():
            data = self.client.sock.recv(65536)
            assert data, "the connection ended"
            for event in self.connection.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    self.head = dict(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    self.body += event.data
                elif isinstance(event, h2.events.TrailersReceived):
                    self.trailers = tuple(event.headers)
                elif isinstance(event, h2.events.StreamEnded):
                    self.ended = True
            self.flush()


def message(data: bytes) -> bytes:
    return b"\0" + len(data).to_bytes(4, "big") + data


def echo_each(connection: h2.connection.H2Connection, event: Any) -> None:
    """Answers every message at once, and says how it went in its trailers."""
    if isinstance(event, h2.events.RequestReceived):
        head = [(":status", "200"), ("content-type", "application/grpc")]
        connection.send_headers(event.stream_id, head)
    elif isinstance(event, h2.events.DataReceived):
        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        connection.send_data(event.stream_id, event.data)
    elif isinstance(event, h2.events.StreamEnded):
        connection.send_headers(event.stream_id, TRAILERS, end_stream=True)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {"fault": {"name": "latency", "settings": {"ms": 5}}, "on": {"path": "*"}},
        {"fault": {"name": "bandwidth", "settings": {"bytes_per_s": 100_000}}, "on": {"path": "*"}},
    ],
    ids=["calm", "waits before", "acts on the body"],
)
def test_a_dialogue_goes_on_message_by_message(
    tools: Any, engine: Engine, h2_server: H2Server, entry: dict[str, Any] | None
) -> None:
    h2_server.answer = echo_each
    profile = tools.profile(entry) if entry else tools.CALM
    handle = engine.open_session(tools.fresh("grpc"), profile, 1)
    talk = H2Client(tools, engine, h2_server.port, handle, "application/grpc")
    words = [message(b"one"), message(b"two" * 1000), message(b"")]
    with talk.client:
        for at, word in enumerate(words):
            talk.say(word)
            expected = b"".join(words[: at + 1])
            talk.until(lambda expected=expected: talk.body == expected)
        talk.connection.end_stream(1)
        talk.flush()
        talk.until(lambda: talk.ended)
    assert talk.trailers == TRAILERS
    summary = engine.close_session(handle.name)
    assert summary.voids == ()
    assert len(summary.fired) == (entry is not None)
    exchange = tools.recorded(engine, handle.name)
    assert exchange.request.body == b"".join(words)
    assert exchange.delivered.body == b"".join(words)
    assert exchange.delivered.trailers == exchange.upstream.trailers == TRAILERS


def test_an_answer_of_ours_does_not_wait_for_the_end_of_a_dialogue(
    tools: Any, engine: Engine, h2_server: H2Server
) -> None:
    asked = threading.Event()
    h2_server.answer = lambda connection, event: asked.set()
    entry = {"fault": {"name": "status", "settings": {"code": 503}}, "on": {"path": "*"}}
    handle = engine.open_session(tools.fresh("grpc"), tools.profile(entry), 1)
    talk = H2Client(tools, engine, h2_server.port, handle, "application/grpc")
    with talk.client:
        talk.say(message(b"one"))
        talk.until(lambda: talk.ended)
        talk.say(message(b"two"), last=True)
    summary = engine.close_session(handle.name)
    assert (dict(summary.fired), summary.voids) == ({"status#0": 1}, ())
    assert not asked.is_set()
    assert not talk.body.startswith(message(b"one"))


def test_a_body_that_is_no_dialogue_is_decided_on_whole(
    tools: Any, engine: Engine, h2_server: H2Server
) -> None:
    """The control: with faults on it, any other request waits for its end."""
    asked = threading.Event()

    def answer(connection: h2.connection.H2Connection, event: Any) -> None:
        if isinstance(event, h2.events.RequestReceived):
            asked.set()
        elif isinstance(event, h2.events.StreamEnded):
            connection.send_headers(event.stream_id, [(":status", "204")], end_stream=True)

    h2_server.answer = answer
    entry = {"fault": {"name": "latency", "settings": {"ms": 5}}, "on": {"path": "*"}}
    handle = engine.open_session(tools.fresh("grpc"), tools.profile(entry), 1)
    talk = H2Client(tools, engine, h2_server.port, handle, "application/json")
    before = engine.stats()["voided"]
    with talk.client:
        talk.say(b"[1, ")
        assert engine.stats()["voided"] == before
        assert not asked.is_set()
        talk.say(b"2]", last=True)
        talk.until(lambda: talk.ended)
        assert talk.head[":status"] == "204"
    engine.close_session(handle.name)
    assert tools.recorded(engine, handle.name).request.body == b"[1, 2]"
