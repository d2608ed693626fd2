"""faultwire.mock.http2: two peers joined in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest

from faultwire.events import Request
from faultwire.mock._api import Answer
from faultwire.mock.feed import Feed
from faultwire.mock.http2 import Http2
from faultwire.mock.server import MockServer

LONG = bytes(range(256)) * 1024


def answer(request: Request) -> Answer:
    match request.path:
        case "/stream":
            kind = (("content-type", "text/event-stream"), ("Connection", "close"))
            return Answer(200, kind, b"", (b"one", b"two"), trailers=(("grpc-status", "0"),))
        case "/feed":
            return Answer(200, (), feed=Feed())
        case "/long":
            return Answer(200, (), LONG)
        case "/bare":
            return Answer(200, (("grpc-status", "14"),), b"", trailers=(("x", "y"),))
    return Answer(
        200, (("content-type", "text/plain"),), (request.host.encode() + b" " + (request.body or b""))
    )


class Wire(asyncio.Transport):
    """A transport whose bytes go to the client's state machine, when it is its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.dropped = False

    def write(self, data: Any) -> None:
        self.sent += data

    def abort(self) -> None:
        self.dropped = True

    def close(self) -> None:
        self.dropped = True


class Client:
    """The other end; `said` holds heads, bodies, trailers and ends by stream."""

    def __init__(self, *, window: int = 65535) -> None:
        self.wire = Wire()
        self.server = MockServer(answer)
        self.peer = Http2(self.server, "https")
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="latin-1"))
        self.http.initiate_connection()
        self.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.peer.connection_made(self.wire)
        self.heads: dict[int, dict[str, str]] = {}
        self.bodies: dict[int, bytes] = {}
        self.trailers: dict[int, dict[str, str]] = {}
        self.ended: set[int] = set()

    def ask(self, path: str, body: bytes = b"", *, method: str = "POST") -> int:
        stream = int(self.http.get_next_available_stream_id())
        head = [(":method", method), (":scheme", "https"), (":authority", "api.x:443"), (":path", path)]
        self.http.send_headers(stream, head, end_stream=not body)
        if body:
            self.http.send_data(stream, body, end_stream=True)
        return stream

    async def until_end(self, *streams: int) -> None:
        while not self.ended.issuperset(streams):
            self.turn()
            await asyncio.sleep(0)

    def turn(self) -> None:
        if data := self.http.data_to_send():
            self.peer.data_received(data)
        sent = bytes(self.wire.sent)
        self.wire.sent.clear()
        for event in self.http.receive_data(sent):
            self.take(event)

    def take(self, event: Any) -> None:
        match event:
            case h2.events.ResponseReceived():
                self.heads[event.stream_id] = dict(event.headers)
            case h2.events.DataReceived():
                self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
                self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.TrailersReceived():
                self.trailers[event.stream_id] = dict(event.headers)
            case h2.events.StreamEnded():
                self.ended.add(event.stream_id)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client()
    yield made
    made.peer.connection_lost(None)


async def test_a_request_is_received_and_answered(client: Client) -> None:
    stream = client.ask("/echo", b"hello")
    await client.until_end(stream)
    assert client.heads[stream] == {":status": "200", "content-type": "text/plain", "content-length": "11"}
    assert client.bodies[stream] == b"api.x hello"
    assert client.server.requests == 1


async def test_a_stream_ends_with_its_trailers(client: Client) -> None:
    stream, other = client.ask("/stream"), client.ask("/echo", b"x")
    await client.until_end(stream, other)
    assert client.heads[stream] == {":status": "200", "content-type": "text/event-stream"}
    assert (client.bodies[stream], client.trailers[stream]) == (b"onetwo", {"grpc-status": "0"})
    assert client.bodies[other] == b"api.x x"


async def test_an_answer_of_nothing_but_trailers_is_one_head(client: Client) -> None:
    stream = client.ask("/bare")
    await client.until_end(stream)
    assert client.heads[stream] == {":status": "200", "grpc-status": "14", "x": "y"}
    assert stream not in client.trailers
    assert stream not in client.bodies


async def test_a_body_waits_for_the_client_s_room() -> None:
    client = Client(window=1000)
    stream = client.ask("/long")
    await client.until_end(stream)
    assert client.bodies[stream] == LONG
    client.peer.connection_lost(None)


async def test_a_client_that_leaves_a_stream_stops_it_alone(client: Client) -> None:
    left = client.ask("/long")
    client.http.reset_stream(left)
    other = client.ask("/echo", b"x")
    await client.until_end(other)
    assert client.bodies[other] == b"api.x x"
    assert left not in client.ended


async def test_what_is_no_http2_ends_the_connection(client: Client) -> None:
    client.peer.data_received(b"GET / HTTP/1.1\r\n\r\n" * 9)
    assert client.wire.dropped


GOAWAY = b"\0\0\x08\x07" + bytes(5 + 4)
"""A client that leaves and has no quarrel (RFC 9113 §6.8); h2 says nothing more once it has sent one."""


async def test_a_client_that_leaves_gets_all_that_it_asked_for() -> None:
    client = Client()
    stream = client.ask("/stream")
    client.turn()
    client.peer.data_received(GOAWAY + bytes(4))
    assert not client.wire.dropped
    await client.until_end(stream)
    await asyncio.sleep(0)
    assert client.bodies[stream] == b"onetwo"
    assert client.wire.dropped


async def test_a_client_that_leaves_with_an_error_is_dropped() -> None:
    client = Client()
    client.ask("/stream")
    client.turn()
    client.peer.data_received(GOAWAY + b"\0\0\0\x0b")
    assert client.wire.dropped


async def test_a_stream_that_the_client_has_reset_already_is_no_reason_to_drop_it() -> None:
    client = Client()
    unanswered = client.ask("/feed")
    client.http.reset_stream(unanswered)
    other = client.ask("/echo", b"x")
    await client.until_end(other)
    assert not client.wire.dropped
