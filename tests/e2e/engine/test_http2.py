"""Clients that speak only HTTP/2 (gRPC): several streams on one connection, broken one by one."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest

from faultwire.mitm.engine.client import Engine, SessionHandle
from faultwire.mitm.flow.actions import DRAIN_S

EVENTS = [b"data: %d\n\n" % n for n in range(4)]


class H2:
    """A client on one connection."""

    def __init__(
        self, tools: Any, engine: Engine, port: int, session: SessionHandle, host: str = "localhost"
    ) -> None:
        self.client = tools.Client(engine, f"{host}:{port}", tls=True, session=session, alpn=["h2"])
        self.authority = f"{host}:{port}"
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.connection.initiate_connection()
        self.heads: dict[int, dict[str, str]] = {}
        self.bodies: dict[int, bytes] = {}
        self.ends: dict[int, int | None] = {}
        self.flush()

    def flush(self) -> None:
        self.client.send(self.connection.data_to_send())

    def post(self, path: str, body: bytes = b"{}") -> int:
        stream = self.connection.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        self.connection.send_headers(stream, head)
        self.connection.send_data(stream, body, end_stream=True)
        self.bodies[stream] = b""
        self.flush()
        return int(stream)

    def begin(self, path: str, body: bytes) -> int:
        """The first words of a request that goes on, whose client waits for an answer before it says more."""
        stream = self.connection.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        self.connection.send_headers(stream, [*head, ("content-type", "application/grpc")])
        self.connection.send_data(stream, body)
        self.bodies[stream] = b""
        self.flush()
        return int(stream)

    def until_end(self, stream: int) -> tuple[dict[str, str], bytes, int | None]:
        """Head, body, and the error code of a reset (None for a regular end)."""
        while stream not in self.ends:
            data = self.client.sock.recv(65536)
            assert data, "the connection ended"
            for event in self.connection.receive_data(data):
                self.take(event)
            self.flush()
        return self.heads.get(stream, {}), self.bodies[stream], self.ends[stream]

    def take(self, event: Any) -> None:
        if isinstance(event, h2.events.ResponseReceived):
            self.heads[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.last_data = time.monotonic()
            self.bodies[event.stream_id] += event.data
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.ends[event.stream_id] = None
        elif isinstance(event, h2.events.StreamReset):
            self.last_reset = time.monotonic()
            self.ends[event.stream_id] = int(event.error_code)


@pytest.fixture
def server(tools: Any, tls_upstream: Any) -> Any:
    def stream(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head())
        for event in EVENTS:
            connection.sendall(tools.chunk(event))
        connection.sendall(b"0\r\n\r\n")

    tls_upstream.handlers["/stream"] = stream
    tls_upstream.answer("/json", b'{"n": 1}')
    return tls_upstream


def opened(tools: Any, engine: Engine, server: Any, profile: Any) -> tuple[H2, SessionHandle]:
    handle = engine.open_session(tools.fresh("h2"), profile, 1)
    return H2(tools, engine, server.port, handle), handle


@pytest.mark.parametrize(("given", "with_both"), [({}, "h2"), ({"http2": False}, "http/1.1")])
def test_a_client_gets_what_it_offers_and_by_settings_http_1_1_before_http_2(
    tools: Any, tmp_path: Path, test_ca: Any, server: Any, given: dict[str, bool], with_both: str
) -> None:
    settings = tools.settings_in(tmp_path, test_ca).model_copy(update=given)
    with Engine.start(settings) as engine:
        for offer, chosen in ((["h2"], "h2"), (["h2", "http/1.1"], with_both), (["http/1.1"], "http/1.1")):
            with tools.Client(engine, f"localhost:{server.port}", tls=True, alpn=offer) as client:
                assert client.sock.selected_alpn_protocol() == chosen


def test_streams_pass_beside_each_other(tools: Any, engine: Engine, server: Any) -> None:
    client, handle = opened(tools, engine, server, tools.CALM)
    with client.client:
        streams = [client.post("/stream" if n % 2 else "/json") for n in range(12)]
        for n, stream in enumerate(streams):
            head, body, reset = client.until_end(stream)
            assert (head[":status"], reset) == ("200", None)
            assert body == (b"".join(EVENTS) if n % 2 else b'{"n": 1}')
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (12, ())


@pytest.mark.parametrize(
    ("action", "body", "code"), [("cut", EVENTS[0], 2), ("reset", EVENTS[0], 2), ("end", EVENTS[0], None)]
)
def test_one_stream_ends_and_the_others_go_on(
    tools: Any, engine: Engine, server: Any, action: str, body: bytes, code: int | None
) -> None:
    profile = tools.acting("event_acts", chunks={1: [action]})
    client, handle = opened(tools, engine, server, profile)
    with client.client:
        broken, whole = client.post("/stream"), client.post("/json")
        head, got, reset = client.until_end(broken)
        assert (head[":status"], got, reset) == ("200", body, code)
        assert client.until_end(whole)[1:] == (b'{"n": 1}', None)
    assert engine.close_session(handle.name).voids == ()


@pytest.mark.parametrize("action", ["cut", "reset"])
def test_a_client_has_time_to_take_what_came_before_a_reset(
    tools: Any, engine: Engine, server: Any, action: str
) -> None:
    """Java's client drops events that it has not given its program yet when RST_STREAM comes behind them."""
    client, handle = opened(tools, engine, server, tools.acting("event_acts", chunks={2: [action]}))
    with client.client:
        assert client.until_end(client.post("/stream"))[1:] == (b"".join(EVENTS[:2]), 2)
    assert client.last_reset - client.last_data >= 0.8 * DRAIN_S
    assert engine.close_session(handle.name).voids == ()


def test_a_stream_that_waits_holds_up_no_other(tools: Any, engine: Engine, server: Any) -> None:
    client, handle = opened(tools, engine, server, tools.acting("event_acts", chunks={1: ["wait"]}))
    with client.client:
        waiting = client.post("/stream")
        assert client.until_end(client.post("/json"))[1] == b'{"n": 1}'
        assert waiting not in client.ends
        client.connection.reset_stream(waiting)
        client.flush()
        assert client.until_end(client.post("/json"))[1] == b'{"n": 1}'
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (3, ())


@pytest.mark.parametrize("pieces", [(b"ab", b"", b"cd", b""), (b"", b"", b"abcd"), (b"abcd", b"")])
def test_empty_frames_in_a_request_s_body_end_nothing(
    tools: Any, engine: Engine, server: Any, pieces: tuple[bytes, ...]
) -> None:
    """As clients send that stream a body of no declared length, to a server that has only HTTP/1.1."""
    client, handle = opened(tools, engine, server, tools.CALM)
    server.asked.clear()
    with client.client:
        stream = client.begin("/json", pieces[0])
        for piece in pieces[1:]:
            client.connection.send_data(stream, piece)
            client.flush()
        client.connection.end_stream(stream)
        client.flush()
        assert client.until_end(stream)[1] == b'{"n": 1}'
    assert [one.body for one in server.asked] == [b"abcd"]
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (1, ())


def test_an_answer_and_a_refusal(tools: Any, engine: Engine, server: Any) -> None:
    client, handle = opened(tools, engine, server, tools.acting(say="teapot"))
    with client.client:
        head, body, reset = client.until_end(client.post("/json"))
        assert (head[":status"], body, reset) == ("418", b"teapot", None)
    engine.close_session(handle.name)
    client, handle = opened(tools, engine, server, tools.acting(raise_in="start"))
    with client.client:
        head, body, _ = client.until_end(client.post("/json"))
        assert (head[":status"], tools.error_of(body)["type"]) == ("502", "faultwire_internal")
    assert len(engine.close_session(handle.name).voids) == 1


# ---------------------------------------------------------------- dialogues

HELLO = b"\0\0\0\0\2hi"


def test_a_caller_is_answered_that_upstream_cannot_be_reached(
    tools: Any, engine: Engine, server: Any
) -> None:
    """Before it says more, and above all before it says that this was all."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    handle = engine.open_session(tools.fresh("h2"), tools.CALM, 1)
    client = H2(tools, engine, port, handle)
    with client.client:
        stream = client.begin("/chat", HELLO)
        head, body, reset = client.until_end(stream)
        assert (head[":status"], tools.error_of(body)["type"], reset) == ("502", "faultwire_upstream", None)
        client.connection.reset_stream(stream, 0)
        again = client.begin("/chat", HELLO)
        assert client.until_end(again)[0][":status"] == "502"
        client.connection.end_stream(again)
        client.flush()
        assert client.until_end(client.post("/chat"))[0][":status"] == "502", "the connection goes on"
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (3, ())


def test_a_caller_is_answered_that_upstream_is_gone(tools: Any, engine: Engine, test_ca: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            plain, _ = listening.accept()
            with test_ca.server_context("localhost").wrap_socket(plain, server_side=True) as connection:
                connection.recv(65536)

        thread = threading.Thread(target=hang_up)
        thread.start()
        handle = engine.open_session(tools.fresh("h2"), tools.CALM, 1)
        client = H2(tools, engine, listening.getsockname()[1], handle)
        with client.client:
            head, body, reset = client.until_end(client.begin("/chat", HELLO))
        thread.join()
    assert (head[":status"], tools.error_of(body)["type"], reset) == ("502", "faultwire_upstream", None)
    assert engine.close_session(handle.name).voids == ()


def test_a_caller_is_answered_that_the_target_is_refused(tools: Any, engine: Engine) -> None:
    handle = engine.open_session(tools.fresh("h2"), tools.CALM, 1)
    client = H2(tools, engine, 443, handle, host="10.0.0.1")
    with client.client:
        head, body, reset = client.until_end(client.begin("/chat", HELLO))
    assert (head[":status"], tools.error_of(body)["type"], reset) == ("403", "faultwire_refused", None)
    assert engine.close_session(handle.name).voids == ()
