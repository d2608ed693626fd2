"""asyncio's streams over a TCP connection that ends in mitmproxy's own network stack (WireGuard, TUN).

Such a connection can be ended, and not reset: the stack sends a FIN in place of every RST of ours.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

READ = 64 * 1024
HIGH, LOW = 64 * 1024, 16 * 1024
"""Bytes that wait to be sent, from which on and down to which a writer waits; asyncio's own marks."""


class StreamTransport(asyncio.Transport):
    """The transport. Made in the event loop; two tasks move its bytes until it is lost. `on_reset` is called
    where it should be reset."""

    def __init__(self, stream: Any, protocol: asyncio.Protocol, on_reset: Callable[[], None]) -> None:
        super().__init__({name: stream.get_extra_info(name) for name in ("peername", "sockname")})
        self._stream = stream
        self._on_reset = on_reset
        self._protocol: Any = protocol
        self._pending: deque[bytes] = deque()
        self._size = 0
        self._high, self._low = HIGH, LOW
        self._full = self._closing = self._ended = self._lost = False
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._given = asyncio.Event()
        protocol.connection_made(self)
        loop = asyncio.get_running_loop()
        self._tasks = (loop.create_task(self._read()), loop.create_task(self._send()))

    # ------------------------------------------------------------ reading

    async def _read(self) -> None:
        while not self._closing:
            await self._wanted.wait()
            try:
                data = await self._stream.read(READ)
            except OSError as error:
                self._lose(error)
                return
            if self.is_closing():
                return
            if not data:
                if not self._protocol.eof_received():
                    self.close()
                return
            self._protocol.data_received(data)

    def pause_reading(self) -> None:
        """Take nothing more from the client for now."""
        self._wanted.clear()

    def resume_reading(self) -> None:
        """Go on."""
        self._wanted.set()

    def is_reading(self) -> bool:
        """Is it read from?"""
        return self._wanted.is_set() and not self._closing

    # ------------------------------------------------------------ writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send this after what was given before."""
        if self._closing or self._ended or not data:
            return
        self._pending.append(bytes(data))
        self._size += len(data)
        self._given.set()
        if self._size > self._high and not self._full:
            self._full = True
            self._protocol.pause_writing()

    def write_eof(self) -> None:
        """End our direction once all is sent."""
        self._ended = True
        self._given.set()

    def can_write_eof(self) -> bool:
        """TCP can."""
        return True

    async def _send(self) -> None:
        error, ended = None, False
        try:
            while True:
                while self._pending:
                    await self._send_one(self._pending.popleft())
                if self._closing:
                    break
                if self._ended and not ended:
                    self._stream.write_eof()
                    ended = True
                self._given.clear()
                await self._given.wait()
        except OSError as failed:
            error = failed
        self._lose(error)

    async def _send_one(self, data: bytes) -> None:
        self._stream.write(data)
        await self._stream.drain()
        self._size -= len(data)
        if self._full and self._size <= self._low:
            self._full = False
            self._protocol.resume_writing()

    def get_write_buffer_size(self) -> int:
        """Bytes that wait to be sent."""
        return self._size

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """The marks, low and high."""
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Other marks, as asyncio understands them."""
        self._high = HIGH if high is None else high
        self._low = self._high // 4 if low is None else low
        if self._size > self._high and not self._full:
            self._full = True
            self._protocol.pause_writing()

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """End the connection once all is sent."""
        self._closing = True
        self._given.set()

    def abort(self) -> None:
        """End it now, whatever is still to be sent."""
        self._lose(None)

    def reset(self) -> None:
        """End it now, in place of the reset that the stack cannot send."""
        if not self._closing:
            self._on_reset()
        self._lose(None)

    def is_closing(self) -> bool:
        """Is it ended, or being ended?"""
        return self._closing

    def _lose(self, error: OSError | None) -> None:
        if self._lost:
            return
        self._lost = self._closing = True
        self._pending.clear()
        self._size = 0
        current = asyncio.current_task()
        for task in self._tasks:
            if task is not current:
                task.cancel()
        with suppress(OSError):  # the other side has ended it
            self._stream.close()
        asyncio.get_running_loop().call_soon(self._protocol.connection_lost, error)

    # ------------------------------------------------------------ whose it is

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Its bytes go there from now on."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Where its bytes go."""
        found: asyncio.BaseProtocol = self._protocol
        return found


def opened(stream: Any, on_reset: Callable[[], None]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Reader and writer of a connection, as a server of asyncio's gives them."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = StreamTransport(stream, protocol, on_reset)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
