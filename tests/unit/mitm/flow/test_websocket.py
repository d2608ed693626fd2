"""A WebSocket session as a transcript: bytes of either end in, commands out, no socket and no clock."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.test.tflow import twebsocketflow
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Ping, TextMessage

from faultwire.dice import Dice
from faultwire.events import Request, Response
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat.hooks import FaultwireResetHook
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.flow.websocket import LINGER_S, QUEUE_LIMIT, WebSocketLayer
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

UPGRADE = Request("GET", "http", "up.test", 80, "/ws", (("upgrade", "websocket"),))
SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))


class Play:
    """Both ends of a session, whose connections and alarms the test holds."""

    def __init__(self, fault: str = "", *, stock: bool = False) -> None:
        profile = inline(fault[:-1] + ", on: {path: '*'}}") if fault else Profile(name="calm")
        self.gateway = Gateway(stock_hooks=stock)
        session = self.gateway.sessions.open(SessionContext("s", profile, Dice(1, "s"), SessionState()))
        self.session = session
        self.left: list[RecordedExchange] = []
        self.recorded = RecordedExchange(session, UPGRADE, None, self.left.append)
        self.recorded.depart(b"")
        self.recorded.sends(self.recorded.arrive(SWITCH))
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.server = Server(address=("up.test", 80))
        self.server.state = ConnectionState.OPEN
        ctx_ = context.Context(self.client, Options())
        ctx_.server = self.server
        self.flow = twebsocketflow()
        self.flow.websocket.messages.clear()
        self.layer = WebSocketLayer(ctx_, self.flow, self.gateway, self.recorded)
        self.ends = {"client": Connection(ConnectionType.CLIENT), "server": Connection(ConnectionType.SERVER)}
        self.got: dict[str, list[Any]] = {"client": [], "server": []}
        self.alarms: list[commands.RequestWakeup] = []
        self.hooks: list[commands.StartHook] = []
        self.closed: list[str] = []
        self.held: list[tuple[str, bool]] = []
        self.gateway.throttle = lambda flow, *, paused, by: self.held.append((by, paused))  # type: ignore[method-assign]
        self.tell(events.Start())

    def tell(self, event: events.Event) -> None:
        for command in list(self.layer.handle_event(event)):
            side = "client" if getattr(command, "connection", None) is self.client else "server"
            if isinstance(command, commands.SendData):
                self.ends[side].receive_data(command.data)
                for got in self.ends[side].events():
                    self.got[side].append(getattr(got, "data", None) or type(got).__name__)
                    if isinstance(got, CloseConnection):
                        self.got[side][-1] = int(got.code)
            elif isinstance(command, commands.CloseConnection):
                self.closed.append(side)
            elif isinstance(command, commands.RequestWakeup):
                self.alarms.append(command)
            elif isinstance(command, commands.StartHook):
                self.hooks.append(command)
                if not isinstance(command, FaultwireResetHook):
                    self.tell(events.HookCompleted(command))

    def say(self, by: str, *words: Any) -> None:
        said = [TextMessage(word) if isinstance(word, str) else word for word in words]
        data = b"".join(self.ends[by].send(word) for word in said)
        self.tell(events.DataReceived(self.client if by == "client" else self.server, data))

    def leave(self, by: str) -> None:
        self.tell(events.ConnectionClosed(self.client if by == "client" else self.server))

    def ring(self, which: int = -1) -> None:
        self.tell(events.Wakeup(self.alarms[which]))


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)


def test_messages_and_controls_pass_both_ways() -> None:
    play = Play()
    play.say("client", "a", Ping(b"p"), "b")
    play.say("server", "c")
    assert play.got == {"server": ["a", "Ping", "b"], "client": ["c"]}
    assert play.gateway.stats.websocket_messages == 3


def test_a_close_is_passed_on_and_answered_by_the_other_end() -> None:
    play = Play()
    play.say("server", CloseConnection(code=4001))
    assert play.got == {"client": [4001], "server": []}, "nobody answers in its place"
    assert play.closed == []
    assert play.alarms[0].delay == LINGER_S
    play.say("client", CloseConnection(code=4001))
    assert play.got["server"] == [4001]
    assert sorted(play.closed) == ["client", "server"]
    assert play.left == [play.recorded]


def test_an_answer_to_a_close_that_does_not_come_is_not_waited_for() -> None:
    play = Play()
    play.say("client", CloseConnection(code=1000))
    play.ring()
    assert sorted(play.closed) == ["client", "server"]
    assert play.recorded.ended
    play.ring()
    play.tell(events.DataReceived(play.server, b"\x81\x01a"))
    assert play.got["client"] == []


def test_a_connection_that_just_ends_ends_the_other_so() -> None:
    for by in ("client", "server"):
        play = Play()
        play.leave(by)
        assert play.got == {"client": [], "server": []}
        assert sorted(play.closed) == ["client", "server"]
        assert play.recorded.ended


def test_a_lane_that_waits_holds_up_neither_the_other_nor_the_thread() -> None:
    play = Play("stall: {after_events: 1, for_ms: 5}")
    play.say("server", "a", "b", "c")
    assert play.got["client"] == ["a"]
    play.say("client", "up")
    play.say("server", Ping(b"p"))
    assert play.got == {"client": ["a", "Ping"], "server": ["up"]}
    play.ring()
    assert play.got["client"] == ["a", "Ping", "b", "c"]


def test_what_the_server_says_last_waits_for_its_turn() -> None:
    play = Play("stall: {after_events: 0, for_ms: 5}")
    play.say("server", "a", CloseConnection(code=1000))
    assert play.got["client"] == []
    play.leave("server")
    assert not play.recorded.ended
    play.ring()
    assert play.got["client"] == ["a", 1000]


def test_a_client_that_leaves_is_not_kept_waiting_for() -> None:
    play = Play("stall: {after_events: 0}")
    play.say("server", "a")
    assert play.alarms == [], "it waits until the client leaves"
    play.leave("client")
    assert play.recorded.ended
    assert sorted(play.closed) == ["client", "server"]
    assert play.session.fired == {"stall": 1}


def test_a_sender_is_not_read_from_while_too_much_waits() -> None:
    play = Play("stall: {after_events: 0, for_ms: 5}")
    play.say("server", "x" * 100)
    play.say("server", "y" * (QUEUE_LIMIT + 1))
    assert play.held == [("server", True)]
    play.ring()
    assert play.held == [("server", True), ("server", False)]


def test_a_close_of_ours_lets_the_client_answer() -> None:
    play = Play("websocket_close: {code: 4008, after_messages: 1}")
    play.say("server", "a", "b", "c")
    assert play.got == {"client": ["a", 4008], "server": [1001]}
    assert play.closed == []
    play.say("client", CloseConnection(code=4008))
    assert sorted(play.closed) == ["client", "server"]
    assert play.session.fired == {"websocket_close": 1}


def test_a_reset_is_done_before_the_connections_are_let_go() -> None:
    play = Play("reset: {at: after_headers}")
    play.say("server", "a")
    assert isinstance(play.hooks[-1], FaultwireResetHook)
    assert play.closed == []
    play.tell(events.HookCompleted(play.hooks[-1]))
    assert sorted(play.closed) == ["client", "server"]


def test_a_peer_that_breaks_the_protocol_ends_it_for_both() -> None:
    play = Play()
    play.tell(events.DataReceived(play.server, b"\xff\xff\xff\xff"))
    assert play.got["client"] == [1002]
    assert sorted(play.closed) == ["client", "server"]
    assert play.recorded.ended
    assert play.session.voids == []


def test_other_addons_of_a_stock_mitmproxy_see_and_change_messages() -> None:
    play = Play(stock=True)

    def shown(hook: commands.StartHook) -> None:
        play.hooks.append(hook)
        if type(hook).__name__ == "WebsocketMessageHook":
            message = play.flow.websocket.messages[-1]
            message.content = message.content.upper()
            if message.content == b"DROP":
                message.drop()

    data = play.ends["client"].send(TextMessage("a")) + play.ends["client"].send(TextMessage("drop"))
    todo: list[events.Event] = [events.DataReceived(play.client, data)]
    while todo:
        for command in list(play.layer.handle_event(todo.pop(0))):
            if isinstance(command, commands.StartHook):
                shown(command)
                todo.append(events.HookCompleted(command))
            elif isinstance(command, commands.SendData):
                play.ends["server"].receive_data(command.data)
    assert [event.data for event in play.ends["server"].events()] == ["A"]
    assert len(play.flow.websocket.messages) == 1, "mitmproxy would keep them all"
    assert type(play.hooks[0]).__name__ == "WebsocketStartHook"
