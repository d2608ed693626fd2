"""Sockets without a task: faultwire.mitm.native.lean, on real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mitmproxy.connection import ConnectionState

from faultwire.mitm.native import lean
from faultwire.mitm.native.lean import READ, Side, take_over, works

SECONDS = 10


class Probe(lean._Probe):
    """A layer that can fail, and a handler that can have it wait."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self.handler = self
        self.fails = self.behind = False
        self.crashes: list[BaseException] = []
        self.aborted = False
        self.heads: list[int] = []
        self.made_room = asyncio.Event()

    def receive(self, connection: Any, data: bytes) -> None:
        if self.fails:
            raise ValueError("a mistake")
        super().receive(connection, data)

    def crashed(self, client: Any, error: BaseException) -> None:
        self.crashes.append(error)

    def abort(self) -> None:
        self.aborted = True

    def watch_head(self, before: int) -> None:
        self.heads.append(before)

    def lags(self) -> bool:
        return self.behind

    async def room(self) -> None:
        await self.made_room.wait()
        self.behind = False

    async def _catch_up(self, reading: object) -> None:
        return None

    async def gets(self, data: bytes) -> None:
        async with asyncio.timeout(SECONDS):
            while self.got != data:
                await self.came.wait()
                self.came.clear()


def on_a_pair(act: Callable[[Probe, socket.socket], Awaitable[None]]) -> None:
    async def run() -> None:
        near, far = socket.socketpair()
        far.setblocking(False)
        with far:
            reader, writer = await asyncio.open_connection(sock=near)
            await act(Probe(reader, writer), far)
            writer.close()

    asyncio.run(run())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0)


async def send(far: socket.socket, data: bytes) -> None:
    await asyncio.get_running_loop().sock_sendall(far, data)


def test_bytes_come_at_once_and_the_end_comes_to_the_stream() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        reading = asyncio.create_task(probe.reader.read(1))
        await asyncio.sleep(0)
        assert take_over(probe, probe.client)
        assert not take_over(probe, probe.client), "once"
        await send(far, b"one")
        await probe.gets(b"one")
        assert probe.heads == [0], "the time for a head is told"
        far.shutdown(socket.SHUT_WR)
        assert await asyncio.wait_for(reading, SECONDS) == b""

    on_a_pair(act)


def test_one_read_is_no_larger_than_it_says() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        take_over(probe, probe.client)
        sizes: list[int] = []
        took = probe.receive

        def receive(connection: Any, data: bytes) -> None:
            sizes.append(len(data))
            took(connection, data)

        probe.receive = receive  # type: ignore[method-assign]
        await send(far, bytes(3 * READ))
        await probe.gets(bytes(3 * READ))
        assert max(sizes) <= READ

    on_a_pair(act)


def test_what_its_stream_holds_is_read_by_the_task_first() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        await send(far, b"early")
        await until(lambda: bool(probe.reader._buffer))  # type: ignore[attr-defined]
        assert not take_over(probe, probe.client)
        assert await probe.reader.read(10) == b"early"
        assert take_over(probe, probe.client)

    on_a_pair(act)


def test_nothing_more_is_read_until_the_tape_has_room() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        take_over(probe, probe.client)
        probe.behind = True
        await send(far, b"one")
        await probe.gets(b"one")
        assert not probe.writer.transport.is_reading()  # type: ignore[attr-defined]
        await send(far, b"two")
        probe.made_room.set()
        await probe.gets(b"onetwo")
        assert probe.writer.transport.is_reading()  # type: ignore[attr-defined]

    on_a_pair(act)


def test_a_connection_that_is_held_is_not_read_until_it_is_let_go() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        take_over(probe, probe.client)
        held = probe._held[probe.client] = asyncio.Event()
        await send(far, b"one")
        await probe.gets(b"one")
        assert not probe.writer.transport.is_reading()  # type: ignore[attr-defined]
        await send(far, b"two")
        del probe._held[probe.client]
        held.set()
        await probe.gets(b"onetwo")

    on_a_pair(act)


def test_a_layer_that_fails_leaves_nothing_to_go_on_with() -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        take_over(probe, probe.client)
        probe.fails = True
        await send(far, b"one")
        await until(lambda: bool(probe.crashes))
        assert probe.aborted
        assert str(probe.crashes[0]) == "a mistake"

    on_a_pair(act)


@pytest.mark.parametrize(
    ("state", "got"),
    [
        (ConnectionState.CLOSED, b""),
        (ConnectionState.CAN_WRITE, b""),
        (ConnectionState.CAN_READ, b"x"),
        (ConnectionState.OPEN, b"x"),
    ],
)
def test_what_comes_behind_the_end_of_a_connection_is_not_looked_at(
    state: ConnectionState, got: bytes
) -> None:
    async def act(probe: Probe, far: socket.socket) -> None:
        take_over(probe, probe.client)
        side = probe.writer.transport.get_protocol()
        assert isinstance(side, Side)
        probe.state = state
        side.data_received(b"x")
        assert probe.got == got

    on_a_pair(act)


def test_the_self_test_holds_here_and_fails_where_a_transport_cannot_be_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asyncio.run(works())
    monkeypatch.setattr(lean, "take_over", lambda *_: False)
    assert not asyncio.run(works())
    monkeypatch.undo()
    monkeypatch.setattr(Side, "data_received", lambda *_: None)
    monkeypatch.setattr(lean, "PROBE_S", 0.05)
    assert not asyncio.run(works()), "the bytes do not come"
    monkeypatch.undo()
    monkeypatch.setattr(Side, "eof_received", lambda *_: True)
    monkeypatch.setattr(lean, "PROBE_S", 0.05)
    assert not asyncio.run(works()), "the end does not"
