"""Which requests are sent once more, and what a connection has to look like for that."""

from __future__ import annotations

from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestEndOfMessage,
    RequestHeaders,
    ResponseProtocolError,
)

from faultwire.mitm.compat import once_more
from faultwire.mitm.compat.codes import BAD_GATEWAY
from faultwire.mitm.compat.http1 import PatientHttp1Client


def asked(method: str) -> http.Request:
    made = http.Request.make(method, "http://up.test/x")
    made.http_version = "HTTP/2.0"
    return made


@pytest.mark.parametrize(
    ("kind", "method", "repeated"),
    [
        (once_more.Unanswered, "GET", True),
        (once_more.Unanswered, "PUT", True),
        (once_more.Unanswered, "POST", False),
        (once_more.Unanswered, "PATCH", False),
        (once_more.Unprocessed, "POST", True),
        (ResponseProtocolError, "GET", False),
    ],
)
def test_what_nobody_has_answered_is_repeated_where_that_does_no_harm(
    kind: type[ResponseProtocolError], method: str, repeated: bool
) -> None:
    assert once_more.may_repeat(kind(1, "gone", BAD_GATEWAY), asked(method)) is repeated


class Line:
    """A connection to a server, and what its layer tells of it."""

    def __init__(self) -> None:
        person = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        person.alpn = b"h2"
        options = Options()
        options.add_option("validate_inbound_headers", bool, True, "")
        made = context.Context(person, options)
        made.server = self.server = Server(address=("up.test", 80))
        self.server.state = ConnectionState.OPEN
        self.layer = PatientHttp1Client(made)
        self.told: list[Any] = []
        self._tell(events.Start())

    def _tell(self, event: events.Event) -> None:
        found = list(self.layer.handle_event(event))
        self.told += [one.event for one in found if isinstance(one, ReceiveHttp)]
        for one in found:
            if isinstance(one, commands.CloseConnection):
                self.server.state = ConnectionState.CLOSED

    def ask(self, stream: int) -> None:
        self._tell(RequestHeaders(stream, asked("GET"), end_stream=True))
        self._tell(RequestEndOfMessage(stream))

    def say(self, data: bytes) -> None:
        self._tell(events.DataReceived(self.server, data))

    def close(self) -> type[Any]:
        """The server ends the connection; what the stream hears of it."""
        self.told.clear()
        self.server.state &= ~ConnectionState.CAN_READ
        self._tell(events.ConnectionClosed(self.server))
        (heard,) = self.told
        return type(heard)


WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


def test_a_connection_that_had_served_and_says_nothing_more() -> None:
    line = Line()
    line.ask(1)
    line.say(WHOLE)
    line.ask(3)
    assert line.close() is once_more.Unanswered


@pytest.mark.parametrize("said", [b"H", WHOLE[:-2]])
def test_one_that_has_said_anything_is_another_thing(said: bytes) -> None:
    line = Line()
    line.ask(1)
    line.say(WHOLE)
    line.ask(3)
    line.say(said)
    assert line.close() is ResponseProtocolError


def test_so_is_one_that_never_served() -> None:
    line = Line()
    line.ask(1)
    assert line.close() is ResponseProtocolError
