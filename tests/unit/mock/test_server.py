from __future__ import annotations

import asyncio
from typing import Any

from faultwire.events import Request
from faultwire.mock._api import Answer
from faultwire.mock.gate import Gate
from faultwire.mock.server import MockServer, _Connection

GET = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
EVENTS = (b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n")


class Wire(asyncio.Transport):
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def connect(answer: Answer, hold: Gate | None = None) -> tuple[_Connection, Wire, MockServer]:
    server = MockServer(lambda request: answer, hold=hold)
    connection, wire = _Connection(server, "http"), Wire()
    connection.connection_made(wire)
    return connection, wire, server


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_who_waits_for_an_answer_that_failed_does_not_wait_for_ever() -> None:
    """The second request is answered when the first one's answer has ended, and nobody reads then."""

    def answering(request: Request) -> Answer:
        if request.path == "/2":
            raise ZeroDivisionError
        return Answer(200, (), b"", EVENTS)

    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: told.append(about.get("exception")))
    connection, wire = _Connection(MockServer(answering), "http"), Wire()
    connection.connection_made(wire)
    connection.data_received(GET % 1 + GET % 2)
    await settle()
    assert b"".join(wire.writes).endswith(b"0\r\n\r\n")
    assert wire.closed
    assert [type(error) for error in told] == [ZeroDivisionError]


async def test_answers_come_in_order_of_pipelined_requests() -> None:
    asked: list[str] = []

    def answering(request: Request) -> Answer:
        asked.append(request.path)
        return Answer(200, (), request.path.encode())

    connection, wire = _Connection(MockServer(answering), "http"), Wire()
    connection.connection_made(wire)
    connection.data_received(GET % 1 + GET % 2)
    assert asked == ["/1", "/2"]
    assert [data[-2:] for data in wire.writes] == [b"/1", b"/2"]


async def test_every_event_is_written_by_itself() -> None:
    connection, wire, server = connect(Answer(200, (), b"", EVENTS))
    connection.data_received(GET % 1)
    await settle()
    assert wire.writes[1:] == [b"9\r\n" + event + b"\r\n" for event in EVENTS] + [b"0\r\n\r\n"]
    assert server.requests == 1


async def test_a_gate_holds_the_stream_half_way() -> None:
    gate = Gate(after_events=2)
    connection, wire, _ = connect(Answer(200, (), b"", EVENTS), gate)
    connection.data_received(GET % 1)
    await settle()
    assert gate.reached.is_set()
    assert len(wire.writes) == 3
    gate.open()
    await settle()
    assert wire.writes[-1] == b"0\r\n\r\n"
    connection.data_received(GET % 2)
    await settle()
    assert len(wire.writes) == 2 * (1 + len(EVENTS) + 1)


async def test_a_slow_client_is_waited_for() -> None:
    connection, wire, _ = connect(Answer(200, (), b"", EVENTS))
    connection.pause_writing()
    connection.data_received(GET % 1)
    await settle()
    assert len(wire.writes) == 1
    connection.resume_writing()
    await settle()
    assert wire.writes[-1] == b"0\r\n\r\n"


async def test_a_client_that_leaves_ends_its_stream() -> None:
    gate = Gate()
    connection, wire, _ = connect(Answer(200, (), b"", EVENTS), gate)
    connection.data_received(GET % 1)
    await settle()
    connection.connection_lost(None)
    gate.open()
    await settle()
    assert len(wire.writes) == 2


async def test_close_and_bad_requests_end_the_connection() -> None:
    connection, wire, _ = connect(Answer(200, (), b"ok"))
    connection.data_received(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n" + GET % 2)
    assert wire.closed
    assert len(wire.writes) == 1
    connection, wire, _ = connect(Answer(200, (), b"ok"))
    connection.data_received(b"nonsense\r\n\r\n")
    assert wire.closed
    assert wire.writes[0].startswith(b"HTTP/1.1 400 Bad Request")


async def test_100_continue_is_sent_when_it_is_waited_for() -> None:
    connection, wire, _ = connect(Answer(200, (), b"ok"))
    connection.data_received(
        b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
    )
    assert wire.writes == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    connection.data_received(b"x")
    assert wire.writes[-1].endswith(b"ok")
