"""A stream performing actions, as a transcript: events in, commands out, no socket.

The parts of a `faultwire.mitm.flow.stream` together are one state machine; it is driven through the layer
that mitmproxy would drive. Bytes on real sockets are in tests/e2e/engine.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import HTTPMode

from faultwire.dice import Dice
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat import Hooks
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook
from faultwire.mitm.compat.http1 import PatientHttp1Client
from faultwire.mitm.flow import stream_state
from faultwire.mitm.flow.addon import FaultwireAddon
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.stream import FaultLayer
from faultwire.mitm.network.egress_guard import Guard
from faultwire.profile.dump import merge
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

REQUEST = b"POST http://up.test/v1 HTTP/1.1\r\nhost: up.test\r\ncontent-length: 2\r\n\r\n{}"
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % n for n in range(3)]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class Play:
    """A client, our layer, and a server that connects at once."""

    def __init__(self, profile: Profile) -> None:
        self.gateway = Gateway(guard=Guard.of(["*"]))
        session = SessionContext("s", profile, Dice(1, "s"), SessionState())
        self.session = self.gateway.sessions.implicit = self.gateway.sessions.open(session)
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.server: Server | None = None
        options = Options()
        for name, value in (("validate_inbound_headers", True), ("keep_host_header", False)):
            options.add_option(name, bool, value, "")
        for name in ("stream_large_bodies", "body_size_limit"):
            options.add_option(name, str, "", "")
        self.layer = FaultLayer(context.Context(self.client, options), HTTPMode.regular)
        self.layer.gateway = self.gateway
        self.to_client = b""
        self.to_server = b""
        self.closed: list[str] = []
        self.opening: commands.OpenConnection | None = None
        self.patient = False
        """Does a server take its time to connect, until `connected`?"""
        self.hooks: list[commands.StartHook] = []
        self.tell(events.Start())

    def tell(self, event: events.Event) -> None:
        for command in list(self.layer.handle_event(event)):
            if isinstance(command, commands.SendData):
                if command.connection is self.client:
                    self.to_client += command.data
                else:
                    self.to_server += command.data
            elif isinstance(command, commands.OpenConnection):
                self.server, self.opening = command.connection, command
                if not self.patient:
                    self.connected()
            elif isinstance(command, commands.CloseConnection):
                self.closed.append("client" if command.connection is self.client else "server")
                command.connection.state = ConnectionState.CLOSED
            elif isinstance(command, FaultwireWaitHook | FaultwireResetHook):
                self.hooks.append(command)
            elif isinstance(command, commands.StartHook):
                self.tell(events.HookCompleted(command))

    def connected(self) -> None:
        assert self.server is not None
        assert self.opening is not None
        self.server.state = ConnectionState.OPEN
        self.tell(events.OpenConnectionCompleted(self.opening, None))

    def ask(self, data: bytes = REQUEST) -> None:
        self.tell(events.DataReceived(self.client, data))

    def answer(self, data: bytes) -> None:
        assert self.server is not None
        self.tell(events.DataReceived(self.server, data))

    def resume(self) -> None:
        self.tell(events.HookCompleted(self.hooks[-1]))

    def leave(self) -> None:
        self.client.state = ConnectionState.CLOSED
        self.tell(events.ConnectionClosed(self.client))


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
    monkeypatch.setattr(http_layer, "Http1Client", PatientHttp1Client)  # as `compat.install` does


def fault(text: str) -> Play:
    return Play(inline(text))


def test_each_chunk_leaves_with_the_event_that_brought_it() -> None:
    play = Play(Profile(name="calm"))
    play.ask()
    assert play.to_server.endswith(b"\r\n\r\n{}")
    play.answer(SSE + chunk(EVENTS[0]))
    assert play.to_client.endswith(b"\r\n\r\n" + chunk(EVENTS[0]))
    play.answer(chunk(EVENTS[1]) + b"0\r\n\r\n")
    assert play.to_client.endswith(chunk(EVENTS[1]) + b"0\r\n\r\n")
    assert play.closed == []
    assert (play.session.exchanges, play.gateway.live) == (1, 0)


def test_a_request_streams_while_it_comes() -> None:
    play = Play(Profile(name="calm"))
    play.ask(REQUEST[:-1])
    assert play.to_server.endswith(b"\r\n\r\n{")
    play.ask(REQUEST[-1:])
    assert play.to_server.endswith(b"\r\n\r\n{}")


def test_a_request_that_a_fault_must_read_is_held() -> None:
    play = fault("latency: {ms: 5, on: {path: '*'}}")
    play.ask(REQUEST[:-1])
    assert (play.to_server, play.hooks) == (b"", [])
    play.ask(REQUEST[-1:])
    assert isinstance(play.hooks[0], FaultwireWaitHook)
    assert play.to_server == b""  # upstream hears of it only when the wait is over
    play.resume()
    assert play.to_server.endswith(b"\r\n\r\n{}")


def test_requests_that_come_at_once_are_answered_one_after_the_other() -> None:
    """The second one is there while the end of the first one's response is told."""
    play = Play(Profile(name="calm"))
    play.ask(REQUEST * 3)
    for number in b"1", b"2", b"3":
        assert play.to_server.count(b"POST /v1") == int(number)
        play.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n" + number)
        assert play.to_client.endswith(b"\r\n\r\n" + number)
    assert (play.session.exchanges, play.gateway.live, play.closed) == (3, 0, [])


def test_a_response_that_ends_before_its_request_is_reported_as_ended() -> None:
    play = Play(Profile(name="calm"))
    play.ask(REQUEST[:-1])
    play.answer(SSE + chunk(EVENTS[0]) + b"0\r\n\r\n")
    assert play.to_client.endswith(chunk(EVENTS[0]) + b"0\r\n\r\n")
    play.ask(REQUEST[-1:] + REQUEST)
    assert play.to_server.count(b"POST /v1") == 2
    play.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n2")
    assert play.to_client.endswith(b"\r\n\r\n2")
    assert (play.session.exchanges, play.gateway.live, play.closed) == (2, 0, [])


def test_who_has_answered_and_hangs_up_leaves_the_client_its_connection() -> None:
    play = Play(Profile(name="calm"))
    play.ask(REQUEST[:-1])
    play.answer(SSE + chunk(EVENTS[0]) + b"0\r\n\r\n")
    assert play.server is not None
    play.server.state = ConnectionState.CAN_WRITE
    play.tell(events.ConnectionClosed(play.server))
    play.ask(REQUEST[-1:] + REQUEST)
    play.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n2")
    assert play.to_client.endswith(b"\r\n\r\n2")
    assert (play.session.exchanges, play.closed) == (2, ["server"])


def test_a_cut_ends_both_sides() -> None:
    play = fault("cut_stream: {after_events: 1, on: {path: '*'}}")
    play.ask()
    play.answer(SSE + b"".join(map(chunk, EVENTS)))
    assert play.to_client.endswith(b"\r\n\r\n" + chunk(EVENTS[0]))
    assert sorted(play.closed) == ["client", "server"]
    assert play.session.fired == {"cut_stream": 1}
    assert play.gateway.live == 0


def test_a_client_that_leaves_during_a_wait_ends_it() -> None:
    play = fault("latency: {ms: 5, on: {path: '*'}}")
    play.ask()
    wait = play.hooks[0]
    assert isinstance(wait, FaultwireWaitHook)
    assert not wait.pause.left
    (recorded,) = play.gateway._links[play.client.id].exchanges
    play.leave()
    assert wait.pause.left
    again = ExchangePipeline(play.session.context, recorded.pipeline.exchange.request)
    again.request(b"{}")
    assert again.exchange.attempt == 1, "the same request again is its retry, however soon it comes"
    play.resume()
    assert play.server is None
    assert (play.session.exchanges, play.gateway.live) == (1, 0)


def test_a_reset_is_asked_for_and_nothing_follows() -> None:
    play = fault("reset: {at: before_headers, on: {path: '*'}}")
    play.ask()
    assert isinstance(play.hooks[0], FaultwireResetHook)
    play.resume()
    assert (play.to_client, play.server) == (b"", None)


def test_what_piles_up_behind_a_wait_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    throttled: list[bool] = []
    play = fault("slow_tokens: {ms: 5, on: {path: '*'}}")
    monkeypatch.setattr(play.gateway, "throttle", lambda flow, paused: throttled.append(paused))
    play.ask()
    play.answer(SSE + chunk(EVENTS[0]) + chunk(EVENTS[1]))
    big = b"data: " + b"x" * (stream_state.QUEUE_LIMIT // 4) + b"\n\n"
    while not play.hooks:
        play.answer(chunk(EVENTS[2]))
    for _ in range(6):
        play.answer(chunk(big))
    assert throttled == [True]
    done = 0
    while done < len(play.hooks):
        done = len(play.hooks)
        play.resume()
    assert throttled == [True, False]


def test_what_is_queued_behind_a_clean_end_is_dropped() -> None:
    both = ("early_end: {after_events: 1, on: {path: '*'}}", "latency: {ms: 5, on: {path: '*', status: 200}}")
    play = Play(merge([inline(text) for text in both]))
    asked = b'{"model":"m","stream":true,"messages":[]}'
    head = b"POST http://up.test/v1/chat/completions HTTP/1.1\r\nhost: up.test\r\ncontent-length: %d\r\n\r\n"
    play.ask(head % len(asked) + asked)
    words = [b'data: {"choices":[{"index":0,"delta":{"content":"%d"}}]}\n\n' % n for n in range(3)]
    play.answer(SSE + b"".join(map(chunk, words[:2])))
    play.answer(chunk(words[2]) + b"0\r\n\r\n")
    play.resume()
    assert play.to_client.endswith(b"\r\n\r\n" + chunk(words[0]) + b"0\r\n\r\n")
    assert (play.session.voids, play.session.fired) == ([], {"early_end": 1, "latency": 1})


def test_a_malformed_response_is_not_passed_on() -> None:
    play = Play(Profile(name="calm"))
    play.ask()
    play.answer(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n")
    assert b"faultwire_upstream" in play.to_client
    assert play.to_client.startswith(b"HTTP/1.1 502")


def test_the_hooks_of_the_addon_are_all_known_to_mitmproxy() -> None:
    """A misspelled hook would never be called, and nobody would say so."""
    from mitmproxy.hooks import all_hooks

    table = Hooks([FaultwireAddon(Gateway())])
    handled = {name for name in all_hooks if table[name]}
    assert handled == {
        "client_connected",
        "client_disconnected",
        "faultwire_reset",
        "faultwire_wait",
        "http_connect",
        "http_connected",
        "next_layer",
        "server_connect",
        "server_connected",
        "tls_clienthello",
        "tls_established_client",
        "tls_failed_client",
        "tls_start_client",
        "tls_start_server",
    }


# ---------------------------------------------------------------- a client that leaves


@pytest.mark.parametrize("sent", [len(REQUEST) - 1, len(REQUEST)])
def test_a_client_that_leaves_while_upstream_is_called_voids_nothing(sent: int) -> None:
    play = Play(Profile(name="calm"))
    play.patient = True
    play.ask(REQUEST[:sent])
    play.leave()
    play.connected()
    assert (play.to_server, play.session.voids) == (b"", [])
    assert "server" in play.closed
    assert (play.session.exchanges, play.gateway.live) == (1, 0)


def test_a_fault_behind_a_wait_that_the_client_did_not_sit_out_was_not_triggered() -> None:
    both = (inline("latency: {ms: 5, on: {path: '*'}}"), inline("status: {code: 503, on: {path: '*'}}"))
    play = Play(merge(both))
    play.ask()
    play.leave()
    play.resume()
    assert play.session.fired == {"latency": 1}
    assert play.to_client == b""


def test_what_is_queued_behind_a_wait_is_dropped_with_the_client() -> None:
    play = fault("slow_tokens: {ms: 5, on: {path: '*'}}")
    play.ask()
    play.answer(SSE)
    for event in EVENTS:
        play.answer(chunk(event))
    play.answer(b"0\r\n\r\n")
    seen = play.to_client
    assert EVENTS[2] not in seen
    play.leave()
    play.resume()
    assert play.to_client == seen
    assert (play.session.exchanges, play.gateway.live) == (1, 0)


def test_a_closed_session_gets_no_more_events() -> None:
    play = fault("slow_tokens: {ms: 5, on: {path: '*'}}")
    play.ask()
    play.answer(SSE + b"".join(map(chunk, EVENTS)))
    seen = play.to_client
    (recorded,) = play.gateway._links[play.client.id].exchanges
    recorded.end("client_aborted", "the session was closed")
    play.resume()
    assert play.to_client == seen


# ---------------------------------------------------------------- the head, and before it


def test_a_wait_decided_on_the_head_comes_before_it() -> None:
    play = fault("latency: {ms: 5, on: {path: '*', status: 200}}")
    play.ask()
    play.answer(SSE + chunk(EVENTS[0]))
    assert isinstance(play.hooks[0], FaultwireWaitHook)
    assert play.to_client == b""
    play.resume()
    assert play.to_client.startswith(b"HTTP/1.1 200 OK\r\n")
    assert play.to_client.endswith(chunk(EVENTS[0]))


def test_a_reset_decided_on_the_head_comes_before_it() -> None:
    play = fault("reset: {at: before_headers, on: {path: '*', status: 200}}")
    play.ask()
    play.answer(SSE + b"".join(map(chunk, EVENTS)))
    assert isinstance(play.hooks[0], FaultwireResetHook)
    play.resume()
    assert play.to_client == b""
    assert play.session.fired == {"reset": 1}


def test_latency_alone_changes_no_framing() -> None:
    play = fault("latency: {ms: 5, on: {path: '*'}}")
    play.ask()
    play.resume()
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    play.answer(whole)
    assert play.to_client == whole


def test_a_held_body_that_takes_its_time_has_no_length_to_send() -> None:
    both = (
        "malformed_body: {mistake: unclosed, on: {path: '*'}}",
        "bandwidth: {bytes_per_s: 10, on: {path: '*'}}",
    )
    play = Play(merge([inline(text) for text in both]))
    play.ask()
    play.answer(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n[1]")
    assert b"transfer-encoding: chunked" in play.to_client
    assert b"content-length" not in play.to_client
    while b"0\r\n\r\n" not in play.to_client:
        play.resume()
    assert play.to_client.endswith(b"1\r\n[\r\n1\r\n1\r\n0\r\n\r\n")


def test_the_connection_acts_on_an_answer_of_ours() -> None:
    both = (
        inline("reset: {at: after_headers, on: {path: '*'}}"),
        inline("status: {code: 503, on: {path: '*'}}"),
    )
    play = Play(merge(both))
    play.ask()
    assert play.to_client.startswith(b"HTTP/1.1 503")
    assert play.to_client.endswith(b"\r\n\r\n"), "not a byte of the body"
    assert isinstance(play.hooks[0], FaultwireResetHook)
    play.resume()
    assert play.session.fired == {"reset": 1, "status": 1}
    assert play.server is None


# ---------------------------------------------------------------- WebSocket

UPGRADE = (
    b"GET http://up.test/ws HTTP/1.1\r\nhost: up.test\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def test_a_fault_before_the_call_acts_on_a_socket_as_on_anything() -> None:
    play = fault("latency: {ms: 5, on: {path: '/ws'}}")
    play.ask(UPGRADE)
    assert play.server is None
    play.resume()
    assert play.to_server.startswith(b"GET /ws")
    assert play.session.voids == []


def test_a_websocket_that_no_fault_can_act_on_passes() -> None:
    """The control: another host is named."""
    play = fault("latency: {ms: 5, on: {host: other.test}}")
    play.ask(UPGRADE)
    assert play.to_server.startswith(b"GET /ws")
    assert play.session.voids == []


def test_what_a_server_says_while_its_101_waits_is_not_counted_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is held back as a response would be; then it is the socket that counts."""
    throttled: list[bool] = []
    play = fault("latency: {ms: 5, on: {path: '/ws', status: 101}}")
    monkeypatch.setattr(play.gateway, "throttle", lambda flow, paused, by="server": throttled.append(paused))
    play.ask(UPGRADE)
    said = b"\x82\x7f" + stream_state.QUEUE_LIMIT.to_bytes(8, "big") + bytes(stream_state.QUEUE_LIMIT)
    head = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
    play.answer(head + said[:9])
    play.answer(said[9:])
    play.answer(b"\x81\x02hi")
    assert (play.to_client, throttled) == (b"", [True])
    play.resume()
    assert play.to_client.endswith(said + b"\x81\x02hi")
    assert throttled == [True, False]


# ---------------------------------------------------------------- what mitmproxy refuses


@pytest.mark.parametrize(
    "head",
    [
        b"SSH-2.0-agent\r\n\r\n",
        b"GET http://up.test/ HTTP/1.1\r\nhost: up.test\r\nx : y\r\n\r\n",
        b"GET /no-host HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000,
    ],
    ids=["no HTTP", "bad field", "no host", "endless"],
)
def test_a_head_that_cannot_be_read_is_noted(head: bytes) -> None:
    play = Play(Profile(name="calm"))
    play.ask(head)
    assert play.to_client.startswith(b"HTTP/1.1 4")
    assert (play.session.malformed, play.gateway.stats.malformed) == (1, 1)
    assert play.session.exchanges == 0
    play = Play(Profile(name="calm"))
    play.ask()
    assert play.session.malformed == 0
