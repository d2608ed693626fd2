"""Bodies and trailers on HTTP/1 (`faultwire.mitm.compat.trailers`), as a transcript."""

from __future__ import annotations

from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.connection import Client, ConnectionState
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseTrailers,
)

from faultwire.mitm.compat.heads import HEAD_LIMIT
from faultwire.mitm.compat.http1 import BoundedHttp1Server
from faultwire.mitm.compat.trailers import closing

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


class Wire:
    """Our HTTP/1 side towards one client."""

    def __init__(self) -> None:
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.layer = BoundedHttp1Server(context.Context(self.client, Options()))
        self.take(events.Start())

    def take(self, event: events.Event) -> list[Any]:
        found = list(self.layer.handle_event(event))
        return [command.event if isinstance(command, ReceiveHttp) else command for command in found]

    def receive(self, data: bytes) -> list[str]:
        """What is handed on, by kind and content."""
        said = []
        for event in self.take(events.DataReceived(self.client, data)):
            name = type(event).__name__.removeprefix("Request")
            content = getattr(event, "data", None) or getattr(event, "trailers", None)
            said.append(f"{name} {bytes(content)!r}" if content else name)
        return said


def test_chunks_that_came_together_stay_together() -> None:
    wire = Wire()
    assert wire.receive(HEAD + b"1\r\na\r\n2\r\nbc\r\n1") == ["Headers", "Data b'abc'"]
    assert wire.receive(b"\r\nd\r\n") == ["Data b'd'"]
    assert wire.receive(b"0\r\n\r\n") == ["EndOfMessage"]


def test_trailers_come_before_the_end_as_they_were_written() -> None:
    wire = Wire()
    told = wire.receive(HEAD + b"1\r\na\r\n0\r\nGrpc-Status: 0\r\nx: y\r\n\r\n")
    assert told[1:] == ["Data b'a'", "Trailers b'Grpc-Status: 0\\r\\nx: y\\r\\n'", "EndOfMessage"]


@pytest.mark.parametrize(
    "tail",
    [
        b"0\r\nx: " + b"y" * HEAD_LIMIT,
        b"0\r\n" + b"x: yyyyyy\r\n" * (HEAD_LIMIT // 8) + b"\r\n",
        b"1" * HEAD_LIMIT * 2,
    ],
    ids=["endless trailers", "whole trailers", "an endless line before a chunk"],
)
def test_trailers_and_lines_of_more_than_a_heads_size_are_a_mistake(tail: bytes) -> None:
    wire = Wire()
    told = wire.receive(HEAD + b"1\r\na\r\n" + tail)
    assert told[1] == "Data b'a'"
    assert told[-1].startswith("ProtocolError")
    assert any(name.startswith("CloseConnection") for name in told)


def test_trailers_of_just_less_pass() -> None:
    wire = Wire()
    told = wire.receive(HEAD + b"1\r\na\r\n0\r\nx: " + b"y" * (HEAD_LIMIT - 100) + b"\r\n\r\n")
    assert [name.partition(" ")[0] for name in told] == ["Headers", "Data", "Trailers", "EndOfMessage"]


def test_what_came_before_a_mistake_is_handed_on() -> None:
    wire = Wire()
    told = wire.receive(HEAD + b"1\r\na\r\nnonsense\r\n")
    assert told[1] == "Data b'a'"
    assert told[-1].startswith("ProtocolError")
    assert any(name.startswith("CloseConnection") for name in told)


def test_a_body_that_breaks_off_is_a_mistake() -> None:
    wire = Wire()
    wire.receive(HEAD + b"5\r\nab")
    names = [type(event).__name__ for event in wire.take(events.ConnectionClosed(wire.client))]
    assert "RequestProtocolError" in names


@pytest.mark.parametrize(
    ("trailers", "end"), [(None, b"0\r\n\r\n"), (http.Headers(x="1"), b"0\r\nx: 1\r\n\r\n")]
)
def test_trailers_leave_behind_the_last_chunk(trailers: http.Headers | None, end: bytes) -> None:
    wire = Wire()
    wire.receive(HEAD + b"0\r\n\r\n")
    response = http.Response.make(200, b"", {"transfer-encoding": "chunked"})
    response.headers.pop("content-length", None)
    parts: list[Any] = [ResponseHeaders(1, response, False), ResponseData(1, b"ab")]
    parts += [ResponseTrailers(1, trailers)] if trailers else []
    sent = b""
    for part in [*parts, ResponseEndOfMessage(1)]:
        sent += b"".join(c.data for c in wire.take(part) if isinstance(c, commands.SendData))
    assert sent.endswith(b"2\r\nab\r\n" + end)


def test_a_message_without_chunks_has_no_place_for_them() -> None:
    wire = Wire()
    sent = [commands.SendData(wire.client, b"whole")]
    assert [c.data for c in closing(sent, http.Headers(x="1")) if isinstance(c, commands.SendData)] == [
        b"whole"
    ]
