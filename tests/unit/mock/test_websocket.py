"""faultwire.mock.websocket: frames in and out, over a transport that keeps what is written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from tests.unit.mock.test_server import Wire
from wsproto import events
from wsproto.connection import Connection, ConnectionType

from faultwire.events import Request
from faultwire.mock._api import Answer, OutgoingMessage, Session
from faultwire.mock.server import MockServer, _Connection
from faultwire.mock.websocket import MAX_MESSAGE, handshake

GET = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
KEYED = (("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"))


class Echo(Session):
    """Says every word of a message by itself; `bye` closes."""

    def opening(self) -> Iterable[OutgoingMessage]:
        return [OutgoingMessage("welcome")]

    def receive(self, message: str) -> Iterable[OutgoingMessage]:
        return (
            [OutgoingMessage("", closes=4000)]
            if message == "bye"
            else [OutgoingMessage(word) for word in message.split()]
        )


class Client:
    """The other end, without a socket."""

    def __init__(self) -> None:
        server = MockServer(lambda request: Answer(101, (("upgrade", "websocket"),), session=Echo()))
        self.connection, self.wire = _Connection(server, "http"), Wire()
        self.connection.connection_made(self.wire)
        self.frames = Connection(ConnectionType.CLIENT)
        self._read = 0

    def send(self, *said: events.Event) -> None:
        self.connection.data_received(b"".join(map(self.frames.send, said)))

    async def heard(self) -> list[Any]:
        for _ in range(5):  # the session's task runs in turns of the loop, not in time
            await asyncio.sleep(0)
        written, self._read = b"".join(self.wire.writes[self._read :]), len(self.wire.writes)
        head, mark, frames = written.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1"):
            frames = written
        elif mark:
            assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
        self.frames.receive_data(frames)
        return list(self.frames.events())


def texts(heard: list[Any]) -> list[str]:
    return [event.data for event in heard if isinstance(event, events.TextMessage)]


def test_the_answer_to_a_key_is_the_standard_s() -> None:
    found = handshake(Request("GET", "http", "x", 80, "/", KEYED))
    assert found is not None
    assert dict(found)["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    offered = (*KEYED, ("Sec-WebSocket-Protocol", "a, realtime"))
    chosen = handshake(Request("GET", "http", "x", 80, "/", offered), ("realtime",))
    assert chosen is not None
    assert dict(chosen)["sec-websocket-protocol"] == "realtime"
    assert handshake(Request("GET", "http", "x", 80, "/", KEYED[:1])) is None


def test_messages_whole_in_pieces_and_with_the_head() -> None:
    async def run() -> None:
        client = Client()
        early = client.frames.send(events.TextMessage(data="early bird"))
        client.connection.data_received(GET + early)
        assert texts(await client.heard()) == ["welcome", "early", "bird"]
        client.send(events.TextMessage(data="one ", message_finished=False), events.Ping(payload=b"p"))
        assert [type(event) for event in await client.heard()] == [events.Pong]
        client.send(events.TextMessage(data="two"))
        assert texts(await client.heard()) == ["one", "two"]

    asyncio.run(run())


def test_what_comes_in_the_turn_in_which_an_answer_ends_is_answered_too() -> None:
    """Between the last step of the session's task and the turn in which its end is known."""

    async def run() -> None:
        client, loop = Client(), asyncio.get_running_loop()
        client.connection.data_received(GET)
        await client.heard()
        write, late = client.wire.write, [events.TextMessage(data="late")]

        def writing(data: Any) -> None:
            write(data)
            if late:
                loop.call_soon(client.send, late.pop())

        client.wire.write = writing  # type: ignore[method-assign]
        client.send(events.TextMessage(data="one"))
        assert texts(await client.heard()) == ["one", "late"]

    asyncio.run(run())


def test_either_end_can_close() -> None:
    async def run() -> None:
        client = Client()
        client.connection.data_received(GET)
        await client.heard()
        client.send(events.TextMessage(data="bye"))
        (close,) = await client.heard()
        assert close.code == 4000
        client.send(close.response())
        assert client.wire.closed
        other = Client()
        other.connection.data_received(GET)
        await other.heard()
        other.send(events.CloseConnection(code=1000))
        (answer,) = await other.heard()
        assert (answer.code, other.wire.closed) == (1000, True)

    asyncio.run(run())


def test_what_is_no_text_or_too_long_or_no_frame_closes() -> None:
    async def run() -> None:
        for said, code in (
            (events.BytesMessage(data=b"x"), 1003),
            (events.TextMessage(data="x" * (MAX_MESSAGE + 1)), 1009),
        ):
            client = Client()
            client.connection.data_received(GET)
            await client.heard()
            client.send(said)
            assert [event.code for event in await client.heard()] == [code]
        broken = Client()
        broken.connection.data_received(GET)
        await broken.heard()
        broken.connection.data_received(b"\x81\x05hello")  # a client's frame must be masked
        assert [event.code for event in await broken.heard()] == [1002]

    asyncio.run(run())


def test_a_client_that_is_gone_stops_the_session() -> None:
    async def run() -> None:
        client = Client()
        client.connection.data_received(GET)
        client.connection.connection_lost(None)
        assert texts(await client.heard()) == []

    asyncio.run(run())
