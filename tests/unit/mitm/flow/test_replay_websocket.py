"""A WebSocket without a server, as a transcript: no socket and no clock (`taped_socket`, `replayed`)."""

from __future__ import annotations

from typing import Any

from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.test.tflow import twebsocketflow
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, TextMessage

from faultwire.dice import Dice
from faultwire.events import Message, Request, Response
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.flow.replay_websocket import DIVERGED, ReplayWebSocket
from faultwire.profile.model import Profile
from faultwire.replay.script import Script

UPGRADE = Request("GET", "http", "up.test", 80, "/ws", (("upgrade", "websocket"),))
SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))


class Play:
    def __init__(self, *messages: Message) -> None:
        addon = Gateway()
        context_ = SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState())
        session = addon.sessions.open(context_)
        recorded = RecordedExchange(session, UPGRADE, None, lambda _: None)
        recorded.depart(b"")
        recorded.sends(recorded.arrive(SWITCH))
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.server = Server(address=None)
        around = context.Context(self.client, Options())
        around.server = self.server
        script = Script(messages, bytes, lambda said, expected: f"{said!r} in place of {expected!r}")
        self.layer = ReplayWebSocket(around, twebsocketflow(), addon, recorded, script)
        self.end = Connection(ConnectionType.CLIENT)
        self.got: list[Any] = []
        self.tell(events.Start())

    def tell(self, event: events.Event) -> None:
        for command in self.layer.handle_event(event):
            assert getattr(command, "connection", self.client) is self.client, command
            if isinstance(command, commands.SendData):
                self.end.receive_data(command.data)
                self.got += self.end.events()

    def say(self, text: str) -> None:
        self.tell(events.DataReceived(self.client, self.end.send(TextMessage(data=text))))

    @property
    def texts(self) -> list[str]:
        return [event.data for event in self.got if isinstance(event, TextMessage)]


def said(by: Any, data: bytes, code: int | None = None) -> Message:
    return Message(by, "close" if code else "text", data, 1, 1, code=code)


def test_a_tape_greets_answers_and_closes() -> None:
    play = Play(
        said("server", b"hello"),
        said("client", b"a"),
        said("server", b"b"),
        said("server", b"bye", code=1000),
    )
    assert play.texts == ["hello"]
    play.say("a")
    assert play.texts == ["hello", "b"]
    assert isinstance(play.got[-1], CloseConnection)
    assert (play.got[-1].code, play.got[-1].reason) == (1000, "bye")


def test_another_message_ends_the_session_with_a_reason() -> None:
    play = Play(said("client", b"a"), said("server", b"b"))
    play.say("c")
    assert play.texts == []
    assert isinstance(play.got[-1], CloseConnection)
    assert (play.got[-1].code, play.got[-1].reason) == (DIVERGED, "b'c' in place of b'a'")
