"""HTTP/2 connections that are about to end, as a transcript: h2 at both ends, our layer between, no socket.

It is `faultwire.mitm.compat.http2` that is driven; streams on real sockets are in tests/e2e/engine.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import HTTPMode, _http2

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat import http2, http2_frames
from faultwire.mitm.compat.hooks import FaultwireWaitHook
from faultwire.mitm.flow import stream_state
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.flow.stream import FaultLayer
from faultwire.mitm.network.egress_guard import Guard
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

ALL = 2**31 - 1
"""Every stream there can be: how a server says that it is about to leave (RFC 9113 §6.8)."""


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
    for module, name in (
        (_http2, "BufferedH2Connection"), (http_layer, "Http2Client"), (http_layer, "Http2Server"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, getattr(module, name))  # put back what `install` replaces
    http2.install()


class End:
    """A peer of ours: what it says, and what it was told, stream by stream."""

    def __init__(self, *, client: bool) -> None:
        config = h2.config.H2Configuration(client_side=client, header_encoding="utf-8")
        self.http = h2.connection.H2Connection(config)
        self.heads: dict[int, dict[str, str]] = {}
        self.bodies: dict[int, bytes] = {}
        self.ended: list[int] = []
        self.closed = False

    def receive(self, data: bytes) -> None:
        for event in self.http.receive_data(data):
            if isinstance(event, h2.events.RequestReceived | h2.events.ResponseReceived):
                self.heads[event.stream_id] = dict(event.headers)
            elif isinstance(event, h2.events.DataReceived):
                self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
            elif isinstance(event, h2.events.StreamEnded):
                self.ended.append(event.stream_id)


class Play:
    """A client, our layer, and servers that connect at once; each speaks HTTP/2. Waits end when told."""

    def __init__(self, most: int = 100, profile: Profile | None = None) -> None:
        self.gateway = Gateway(guard=Guard.of(["*"]))
        profile = profile or Profile(name="calm")
        session = SessionContext("s", profile, Dice(1, "s"), SessionState())
        self.session = self.gateway.sessions.implicit = self.gateway.sessions.open(session)
        self.person = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.person.alpn = b"h2"
        options = Options()
        for name in ("validate_inbound_headers", "keep_host_header", "normalize_outbound_headers"):
            options.add_option(name, bool, name != "keep_host_header", "")
        for name in ("stream_large_bodies", "body_size_limit"):
            options.add_option(name, str, "", "")
        options.add_option("http2_ping_keepalive", int, 0, "")
        self.layer = FaultLayer(context.Context(self.person, options), HTTPMode.regular)
        self.layer.gateway = self.gateway
        self.client = End(client=True)
        self.servers: list[tuple[Server, End]] = []
        self.waits: list[FaultwireWaitHook] = []
        self._most = most
        self.client.http.local_settings.initial_window_size = 2**24
        self.client.http.local_settings.acknowledge()  # else the old value is sent
        self.client.http.initiate_connection()
        self.client.http.increment_flow_control_window(2**24)
        self.tell(events.Start())
        self.flush()

    def tell(self, event: events.Event) -> None:
        for command in list(self.layer.handle_event(event)):
            if isinstance(command, commands.SendData):
                self._end_of(command.connection).receive(command.data)
            elif isinstance(command, commands.OpenConnection):
                self._connect(command)
            elif isinstance(command, commands.CloseConnection):
                command.connection.state = ConnectionState.CLOSED
                self._end_of(command.connection).closed = True
            elif isinstance(command, FaultwireWaitHook):
                self.waits.append(command)
            elif isinstance(command, commands.StartHook):
                self.tell(events.HookCompleted(command))

    def end_waits(self) -> None:
        """The faults have waited long enough."""
        waits, self.waits = self.waits, []
        for command in waits:
            self.tell(events.HookCompleted(command))
        self.flush()

    def _connect(self, command: commands.OpenConnection) -> None:
        server, end = command.connection, End(client=False)
        assert isinstance(server, Server)
        server.state, server.alpn = ConnectionState.OPEN, b"h2"
        end.http.local_settings[h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS] = self._most
        end.http.local_settings.acknowledge()  # else the old ones are sent
        end.http.initiate_connection()
        self.servers.append((server, end))
        self.tell(events.OpenConnectionCompleted(command, None))
        self.flush()

    def _end_of(self, connection: Any) -> End:
        if connection is self.person:
            return self.client
        return next(end for server, end in self.servers if server is connection)

    def flush(self) -> None:
        """Let everybody hear what the others have said."""
        for connection, end in ((self.person, self.client), *self.servers):
            data = end.http.data_to_send()
            if data and not end.closed:
                self.tell(events.DataReceived(connection, data))

    def ask(self) -> int:
        stream = self.client.http.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "http"), (":authority", "up.test"), (":path", f"/{stream}")]
        self.client.http.send_headers(stream, head, end_stream=True)
        self.flush()
        return int(stream)

    def answer(self, path: int, text: bytes, *, ends: bool = True, at: int | None = None) -> None:
        """The server that was asked for this path says more; `at` is its number."""
        for _, end in self.servers if at is None else [self.servers[at]]:
            for stream, head in end.heads.items():
                if head[":path"] == f"/{path}":
                    if stream not in end.bodies:
                        end.bodies[stream] = b""
                        end.http.send_headers(stream, [(":status", "200")])
                    end.http.send_data(stream, text, end_stream=ends)
        self.flush()


def test_a_client_that_leaves_gets_the_rest_of_what_it_asked_for() -> None:
    play = Play()
    stream = play.ask()
    play.answer(stream, b"one ", ends=False)
    # h2 says nothing more after a GOAWAY; others do, and hear the answers.
    play.tell(events.DataReceived(play.person, goaway(0)))
    assert not play.client.closed
    play.answer(stream, b"two")
    assert (play.client.bodies[stream], play.client.ended, play.client.closed) == (b"one two", [stream], True)
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (1, 0, [])


@pytest.mark.parametrize("code", [0, 11])
def test_a_client_with_nothing_under_way_or_with_an_error_is_let_go(code: int) -> None:
    play = Play()
    stream = play.ask()
    if code:
        play.answer(stream, b"one ", ends=False)
    else:
        play.answer(stream, b"all")
    play.tell(events.DataReceived(play.person, goaway(0, code)))
    assert play.client.closed
    assert (play.session.exchanges, play.gateway.live) == (1, 0)


def test_a_server_that_leaves_ends_what_it_has_begun_and_gets_nothing_new() -> None:
    play = Play()
    first, second = play.ask(), play.ask()
    over = play.ask()
    play.answer(over, b"all")
    play.answer(first, b"one ", ends=False)
    server = play.servers[0][0]
    play.tell(events.DataReceived(server, goaway(ALL)))
    third = play.ask()
    assert len(play.servers) == 2, "the next one gets another connection"
    play.tell(events.DataReceived(server, goaway(1)))
    assert second not in play.client.heads, (
        "this one it did not look at any more: it is asked again elsewhere"
    )
    play.answer(first, b"two")
    play.answer(second, b"again", at=2)
    play.answer(third, b"three")
    bodies = [play.client.bodies[one] for one in (first, second, third)]
    assert bodies == [b"one two", b"again", b"three"]
    assert [end.closed for _, end in play.servers] == [True, False, False]
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (4, 0, [])
    assert (play.session.requests_written, play.session.requests_recorded) == (5, 5)


@pytest.mark.parametrize("how", ["leaves", "lost"])
def test_a_waiting_caller_s_request_goes_elsewhere_and_only_once(how: str) -> None:
    play = Play(most=1)
    first, waiting = play.ask(), play.ask()
    server, end = play.servers[0]
    assert len(end.heads) == 1
    if how == "lost":
        server.state = ConnectionState.CLOSED
        play.tell(events.ConnectionClosed(server))
        assert play.client.heads[first][":status"] == "502"
    else:
        play.tell(events.DataReceived(server, goaway(ALL)))
        play.answer(first, b"all")
        assert play.client.bodies[first] == b"all"
    assert waiting not in play.client.heads
    again, end = play.servers[1]
    assert [head[":path"] for head in end.heads.values()] == [f"/{waiting}"]
    play.tell(events.DataReceived(again, goaway(0)))
    assert play.client.heads[waiting][":status"] == "502", "a second time is the caller's affair"
    assert sorted(play.client.ended) == [first, waiting]
    assert (len(play.servers), play.gateway.stats.repeated) == (2, 1)
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (2, 0, [])
    assert play.session.requests_written == play.session.requests_recorded


@pytest.mark.parametrize("together", [True, False])
def test_a_reset_that_comes_with_its_request_ends_the_exchange(together: bool) -> None:
    """In one segment or in two, whoever works for the request hears that nobody waits for it."""
    play = Play()
    stream = play.client.http.get_next_available_stream_id()
    head = [(":method", "GET"), (":scheme", "http"), (":authority", "up.test"), (":path", "/")]
    play.client.http.send_headers(stream, head, end_stream=True)
    if not together:
        play.flush()
        assert play.gateway.live == 1
    play.client.http.reset_stream(stream, error_code=8)
    play.flush()
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (1, 0, [])


def test_a_malformed_request_that_is_reset_at_once_harms_no_other() -> None:
    play = Play()
    other = play.ask()
    stream = play.client.http.get_next_available_stream_id()
    play.client.http.config.validate_outbound_headers = False
    play.client.http.config.normalize_outbound_headers = False
    head = [(":method", "GET"), (":scheme", "http"), (":authority", "up.test"), (":path", "/"), ("X-A", "b")]
    play.client.http.send_headers(stream, head, end_stream=True)
    play.client.http.reset_stream(stream, error_code=8)
    play.flush()
    play.answer(other, b"all")
    assert play.client.bodies[other] == b"all"
    assert (play.gateway.stats.malformed, play.gateway.live, play.session.voids) == (1, 0, [])


class Handler:
    """What the client's handler would do about reading."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def hold(self, connection: Any) -> None:
        self.told.append(("hold", connection))

    def let_go(self, connection: Any) -> None:
        self.told.append(("let go", connection))


def test_a_stream_that_waits_keeps_no_other_one_from_being_read() -> None:
    """They come by one connection: what is not opened again is the window of the one that waits."""
    play = Play(profile=inline("latency: {ms: 5, on: {path: '/1', status: 200}}"))
    handler: Any = Handler()
    ctx.master.addons["proxyserver"].connections[play.person.id] = handler
    waiting, other = play.ask(), play.ask()
    _, end = play.servers[0]
    sent = 0
    while end.http.local_flow_control_window(1) >= 16384:
        play.answer(waiting, bytes(16384), ends=False)
        sent += 16384
        assert sent <= stream_state.QUEUE_LIMIT + http2_frames.WINDOW
    assert sent > stream_state.QUEUE_LIMIT
    play.answer(other, b"all")
    assert play.client.bodies[other] == b"all"
    assert handler.told == []
    play.end_waits()
    assert len(play.client.bodies[waiting]) == sent
    assert end.http.local_flow_control_window(1) > http2_frames.WINDOW // 2, "it may send again"
    play.answer(waiting, b"end")
    assert play.client.bodies[waiting] == bytes(sent) + b"end"
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (2, 0, [])


def test_what_was_withheld_of_a_stream_that_is_given_up_is_given_back() -> None:
    """Else the window of the connection, which all its streams share, would become less with each."""
    play = Play(profile=inline("latency: {ms: 5, on: {path: '/1', status: 200}}"))
    waiting = play.ask()
    for _ in range(stream_state.QUEUE_LIMIT // 16384 + 2):
        play.answer(waiting, bytes(16384), ends=False)
    layer: Any = play.layer.connections[play.servers[0][0]]
    ours = layer.context.layers[-1].h2_conn
    assert sum(ours.withheld.values()) > 0
    play.client.http.reset_stream(waiting, error_code=8)
    play.flush()
    play.end_waits()
    assert ours.withheld == {}
    assert (play.session.exchanges, play.gateway.live, play.session.voids) == (1, 0, [])


@pytest.mark.parametrize("said_all", [True, False])
def test_a_refusal_of_nothing_but_a_head_stays_one(said_all: bool) -> None:
    """gRPC's status is in a head that ends the stream, or in trailers, and nowhere else."""
    play = Play(profile=inline("slow_tokens: {ms: 5, on: {path: '*'}}"))
    said = [(":method", "POST"), (":scheme", "http"), (":authority", "up.test"), (":path", "/t.T/m")]
    play.client.http.send_headers(1, [*said, ("content-type", "application/grpc")])
    play.client.http.send_data(1, b"\0\0\0\0\2hi", end_stream=said_all)
    play.flush()
    _, end = play.servers[0]
    refusal = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "8")]
    end.http.send_headers(1, refusal, end_stream=True)
    play.flush()
    assert play.client.heads == {1: dict(refusal)}
    assert (play.client.bodies, play.client.ended) == ({}, [1])


@pytest.mark.parametrize(
    ("part", "message"),
    [("head", "the response head is malformed: "), ("trailers", "the trailers are malformed: ")],
)
def test_a_server_s_malformed_part_is_named(part: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[str | None] = []
    end_as_before = RecordedExchange.end

    def end(self: RecordedExchange, ending: Any, error: str | None = None) -> None:
        errors.append(error)
        end_as_before(self, ending, error)

    monkeypatch.setattr(RecordedExchange, "end", end)
    play = Play()
    stream = play.ask()
    _, server = play.servers[0]
    server.http.config.validate_outbound_headers = server.http.config.normalize_outbound_headers = False
    status, malformed = (":status", "200"), ("Bad Name", "x")
    if part == "trailers":
        server.http.send_headers(1, [status])
    server.http.send_headers(1, [status, malformed] if part == "head" else [malformed], end_stream=True)
    play.flush()
    assert any(error is not None and message in error for error in errors), errors
    assert (play.client.heads.get(stream, {}).get(":status") == "502") == (part == "head")


def goaway(last: int, code: int = 0) -> bytes:
    """The frame (RFC 9113 §6.8)."""
    return b"\0\0\x08\x07\0\0\0\0\0" + last.to_bytes(4, "big") + code.to_bytes(4, "big")
