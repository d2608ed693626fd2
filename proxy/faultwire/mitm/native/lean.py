"""Sockets that are read without a task: their bytes go to the tunnel as they come.

mitmproxy reads each connection through asyncio's streams, which wake a task for every read. Once a connection
is the native path's, its transport gets another protocol, and the task that read it waits for its end: what
ends, and what is cleared up then, stays mitmproxy's. Nothing more is read while a peer, a fault or the tape
has to catch up, as `compat.limited_handler` has it.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, Protocol

from mitmproxy.connection import ConnectionState

from faultwire.mitm.compat.limited_handler import BACKLOG

if TYPE_CHECKING:
    from mitmproxy.connection import Client, Connection

READ = 64 * 1024
"""Bytes of one read. asyncio's own 256 KiB are mapped and unmapped by the system for each."""

PROBE_S = 2.0


class Receiver(Protocol):
    """Whose bytes they are: a `NativeLayer`."""

    client: Client
    handler: Any

    def receive(self, connection: Connection, data: bytes) -> None:
        """Bytes came from one side."""


class Side(asyncio.Protocol):
    """One socket. `stream` is the protocol that it had, which still hears of its end and of full buffers."""

    def __init__(
        self, layer: Receiver, connection: Connection, transport: asyncio.Transport, stream: Any
    ) -> None:
        self._layer, self._handler = layer, layer.handler
        self._connection, self._ours = connection, connection is layer.client
        self._transport, self._stream = transport, stream
        self._waits: asyncio.Task[None] | None = None

    def data_received(self, data: bytes) -> None:
        """What `FastHandler.server_event` does with them."""
        handler = self._handler
        state = self._connection.state
        if state is not ConnectionState.OPEN and not state & ConnectionState.CAN_READ:
            return  # it was ended, and its task hears of that next
        before = handler.progress
        handler.timeout_watchdog.register_activity()
        try:
            self._layer.receive(self._connection, data)
        except Exception as error:  # noqa: BLE001 - a layer that failed leaves nothing to go on with
            handler.owner.crashed(handler.client, error)
            handler.abort()
            return
        if self._ours:
            handler.watch_head(before)
        if self._waits is None and self._must_wait() and not self._transport.is_closing():
            self._transport.pause_reading()
            self._waits = asyncio.get_running_loop().create_task(self._wait())

    def _must_wait(self) -> bool:
        handler = self._handler
        for peer in handler.transports.values():
            writer = peer.writer
            if writer is not None and writer.transport.get_write_buffer_size() > BACKLOG:
                return True
        return self._connection in handler._held or handler.owner.lags()

    async def _wait(self) -> None:
        """As `LimitedHandler.drain_writers`, which asks whose task it runs in."""
        handler = self._handler
        try:
            known = handler.transports.get(self._connection)
            await handler._catch_up(known.handler if known is not None else None)
            held = handler._held.get(self._connection)
            if held is not None:
                await held.wait()
            if handler.owner.lags():
                await handler.owner.room()
        finally:
            self._waits = None
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def eof_received(self) -> bool | None:
        """The peer has ended its side: its task hears of it."""
        ends: bool | None = self._stream.eof_received()
        return ends

    def connection_lost(self, error: Exception | None) -> None:
        """The socket is closed."""
        if self._waits is not None:
            self._waits.cancel()
        self._stream.connection_lost(error)

    def pause_writing(self) -> None:
        """Its buffer is full: who drains its writer waits."""
        self._stream.pause_writing()

    def resume_writing(self) -> None:
        """It is not any more."""
        self._stream.resume_writing()


def take_over(layer: Receiver, connection: Connection) -> bool:
    """Read a connection without its task from here on. Not where its stream holds bytes that the task has yet
    to read, or was taken over already."""
    known = layer.handler.transports.get(connection)
    reader, writer = (known.reader, known.writer) if known is not None else (None, None)
    if not isinstance(writer, asyncio.StreamWriter) or not isinstance(reader, asyncio.StreamReader):
        return False
    transport: Any = writer.transport
    stream = transport.get_protocol()
    if type(stream) is not asyncio.StreamReaderProtocol or transport.is_closing():
        return False
    held: bytearray = reader._buffer  # type: ignore[attr-defined]
    if held or reader.at_eof():
        return False
    transport.set_protocol(Side(layer, connection, transport, stream))
    transport.max_size = READ
    return True


# ---------------------------------------------------------------- self-test


class _Probe:
    """Gathers what a side is given; in place of a layer, its handler and what these know."""

    progress = 0

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.state = ConnectionState.OPEN
        self.client: Any = self
        self.handler: Any = self
        self.timeout_watchdog: Any = self
        self.owner: Any = self
        self.reader, self.writer = reader, writer
        self.transports = {self: self}
        self._held: dict[Any, Any] = {}
        self.got = b""
        self.came = asyncio.Event()

    def register_activity(self) -> None:
        """As a watchdog."""

    def watch_head(self, before: int) -> None:
        """As a handler."""

    def lags(self) -> bool:
        """As an owner."""
        return False

    def receive(self, connection: Any, data: bytes) -> None:
        """As a layer."""
        self.got += data
        self.came.set()


async def works() -> bool:
    """Does this Python let a stream's transport be taken over, so that bytes come to us and its end to the
    stream?"""
    near, far = socket.socketpair()
    with far:
        reader, writer = await asyncio.open_connection(sock=near)
        try:
            async with asyncio.timeout(PROBE_S):
                probe = _Probe(reader, writer)
                if not take_over(probe, probe.client):
                    return False
                reading = asyncio.create_task(reader.read(1))
                far.send(b"bytes")
                await probe.came.wait()
                writer.write(b"back")
                far.setblocking(False)
                back = await asyncio.get_running_loop().sock_recv(far, 8)
                far.shutdown(socket.SHUT_WR)
                ended = await reading
                return (probe.got, back, ended) == (b"bytes", b"back", b"")
        except (AttributeError, TypeError, OSError, TimeoutError):
            return False
        finally:
            writer.close()
