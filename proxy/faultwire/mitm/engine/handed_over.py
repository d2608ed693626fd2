"""Connections that an engine is given by whoever accepts them for several engines.

Each comes as one message of `FRAME` bytes, the name of its session, with the descriptor of its socket. The
other way goes one byte: the engine takes no new sessions (`CLOSED`), or has nothing left to serve (`IDLE`).
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from faultwire.mitm.sessions.client_sessions import ClientSessions

FRAME = 64
CLOSED = b"c"
IDLE = b"i"


def frame_of(session: str) -> bytes:
    """The message with which a connection of a session is handed over."""
    return session.encode("ascii").ljust(FRAME, b"\0")


class HandedOver:
    """The engine's side. `serve` is given each connection, as by `asyncio.start_server`."""

    def __init__(self, descriptor: int, clients: ClientSessions, serve: Callable[..., object]) -> None:
        self._channel = socket.socket(fileno=descriptor)
        self._channel.setblocking(False)
        self._clients, self._serve = clients, serve
        self._beginning: set[asyncio.Task[object]] = set()
        self._loop = asyncio.get_running_loop()
        self._draining: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Take connections from now on."""
        self._loop.add_reader(self._channel, self._take)

    def stop(self) -> None:
        """Take no more."""
        self._loop.remove_reader(self._channel)

    def close(self) -> None:
        """Let the channel go."""
        self._channel.close()

    def _take(self) -> None:
        try:
            frame, descriptors, _, _ = socket.recv_fds(self._channel, FRAME, 1)
        except BlockingIOError:
            return
        except OSError:
            frame, descriptors = b"", []
        if not frame:
            self.stop()  # whoever started us has ended; our standard input says so too
            return
        name = frame.rstrip(b"\0").decode("ascii")
        if name:
            self._clients.announce(name)
        for descriptor in descriptors:  # none where descriptors ran out: the system has closed it
            sock = socket.socket(fileno=descriptor)
            sock.setblocking(False)
            reader = asyncio.StreamReader(loop=self._loop)
            protocol = asyncio.StreamReaderProtocol(reader, self._serve, loop=self._loop)  # type: ignore[arg-type]
            task: asyncio.Task[object] = self._loop.create_task(
                self._loop.connect_accepted_socket(lambda protocol=protocol: protocol, sock)  # type: ignore[misc]
            )
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    def drain(self, serving: Collection[asyncio.Task[None]], within_s: float) -> None:
        """Have no new sessions placed here, and say when nothing is `serving` a client any more, or when the
        time is over."""
        if self._draining is None:
            self._draining = self._loop.create_task(self._drain(serving, within_s))

    async def _drain(self, serving: Collection[asyncio.Task[None]], within_s: float) -> None:
        self._send(CLOSED)
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while tasks := [*self._beginning, *serving]:
                    await asyncio.wait(tasks)
        self._send(IDLE)

    def _send(self, word: bytes) -> None:
        self._channel.send(word)
