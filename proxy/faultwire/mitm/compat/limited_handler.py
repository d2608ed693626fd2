"""A client connection's handler with limits: how long a client may take for its first byte and for a head,
and whose bytes are not read while somebody else has to catch up."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy.mode_servers import ProxyConnectionHandler

if TYPE_CHECKING:
    from mitmproxy.connection import Connection
    from mitmproxy.options import Options
    from mitmproxy.proxy.mode_specs import ProxyMode

    from faultwire.mitm.compat.owner import Owner

CONNECTIONS_PER_HOST = 1000
"""mitmproxy opens 5 at a time, and HTTP/2 clients in front of HTTP/1 servers need one a request."""

IDLE_S = 3600
"""Seconds without a byte either way after which a connection is closed; models think for long."""

BACKLOG = 64 * 1024
"""Bytes not yet taken by a peer from which on we stop reading, asyncio's own high-water mark."""

OWN_BACKLOG = 1024 * 1024
"""The same for what a client did not take of our answers to itself."""


class LimitedHandler(ProxyConnectionHandler):
    """mitmproxy's handler with our limits. `progress` grows with every step that a client finishes;
    `silent_s` is how long one said nothing whose connection is over, None where it spoke."""

    def __init__(
        self, master: Any, reader: Any, writer: Any, options: Options, mode: ProxyMode, owner: Owner
    ) -> None:
        super().__init__(master, reader, writer, options, mode)  # type: ignore[no-untyped-call]
        self.owner = owner
        self.progress = 0
        self.busy = 0
        self.unhurried = False
        self._spoke = False
        self.max_conns = defaultdict(lambda: asyncio.Semaphore(CONNECTIONS_PER_HOST))
        self.timeout_watchdog.timeout = IDLE_S
        self._head_timer: asyncio.TimerHandle | None = None
        self._first_timer: asyncio.TimerHandle | None = None
        self._first_at = 0
        self.silent_s: float | None = None
        self._block_timer: asyncio.TimerHandle | None = None
        self._held: dict[Connection, asyncio.Event] = {}

    def watch_head(self, before: int) -> None:
        """After bytes from the client: has it finished a step, or does its time for one run?"""
        self._spoke = True
        if self._first_timer is not None and before == self._first_at:
            self._first_timer.cancel()
            self._first_timer = None
        if self.progress != before or self.busy or self.unhurried:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None
        elif self._head_timer is None:
            loop = asyncio.get_running_loop()
            self._head_timer = loop.call_later(self.owner.head_timeout_s, self._too_slow)

    def _too_slow(self) -> None:
        self._head_timer = None
        self.owner.stats.slow_heads += 1
        self.abort()

    def await_block(self, number: int) -> None:
        """In HTTP/2 a header block has begun, or the one before has ended (0): it has as long as a head has,
        whatever else is in flight. Until it ends nothing else can come in its connection."""
        if self._block_timer is not None:
            self._block_timer.cancel()
            self._block_timer = None
        if number:
            loop = asyncio.get_running_loop()
            self._block_timer = loop.call_later(self.owner.head_timeout_s, self._unended, number)

    def _unended(self, number: int) -> None:
        if self.lags_behind:
            self.await_block(number)  # it is not read from
        else:
            self._block_timer = None
            self._too_slow()

    def await_first_byte(self) -> None:
        """A connection, or a tunnel in it, is open: the time for the first byte in it runs."""
        self._first_at = self.progress
        if self._first_timer is not None:
            self._first_timer.cancel()
        loop = asyncio.get_running_loop()
        self._first_timer = loop.call_later(self.owner.handshake_s, self._silent)

    def _silent(self) -> None:
        self._first_timer = None
        if self.progress == self._first_at and not self.busy and not self.unhurried:
            self.owner.stats.half_open += 1
            self.abort()

    @property
    def lags_behind(self) -> bool:
        """Is the client not read from, because a server, a fault or the tape has to catch up?"""
        behind = (_backlog(peer.writer) > BACKLOG for peer in self.transports.values())
        return self.client in self._held or self.owner.lags() or any(behind)

    def hold(self, connection: Connection) -> None:
        """Do not read from a connection. (Its transport cannot be paused: the reader would go on.)"""
        self._held.setdefault(connection, asyncio.Event())

    def let_go(self, connection: Connection) -> None:
        """Read from it again."""
        held = self._held.pop(connection, None)
        if held is not None:
            held.set()

    async def drain_writers(self) -> None:
        """Called by the task that reads a connection, before it reads on: wait for those who lag behind
        with what comes from there, for a fault that holds this connection back, and for the tape.

        mitmproxy waits for every peer, the one that is read included. One that answers while it reads
        takes nothing more until its answer is taken, so that both would wait for ever.
        """
        for peer in self.transports.values():
            writer = peer.writer  # as `_backlog`, before each read of each connection
            if isinstance(writer, asyncio.StreamWriter) and (
                writer.transport.get_write_buffer_size() > BACKLOG
            ):
                await self._catch_up(asyncio.current_task())
                break
        if self._held:
            task = asyncio.current_task()
            for connection, held in list(self._held.items()):
                transport = self.transports.get(connection)
                if transport is not None and transport.handler is task:
                    await held.wait()
        if self.owner.lags():
            await self.owner.room()

    async def _catch_up(self, reading: asyncio.Task[None] | None) -> None:
        client = self.transports.get(self.client)
        from_client = client is not None and client.handler is reading
        for connection, peer in list(self.transports.items()):
            ours = connection is self.client
            if not (from_client or ours):
                continue  # a server speaks to nobody but the client
            writer = peer.writer
            most = OWN_BACKLOG if from_client and ours else BACKLOG
            if isinstance(writer, asyncio.StreamWriter) and _backlog(writer) > most:
                try:
                    await writer.drain()
                except OSError as error:
                    if peer.handler is not None:
                        peer.handler.cancel(f"Error sending data: {error}")

    def abort(self) -> None:
        """Drop every connection of this client now."""
        for transport in list(self.transports.values()):
            if isinstance(transport.writer, asyncio.StreamWriter):
                transport.writer.transport.abort()
            if transport.handler is not None:
                transport.handler.cancel("aborted")

    async def handle_client(self) -> None:
        """Serve the connection to its end."""
        self.await_first_byte()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await super().handle_client()
        finally:
            self.silent_s = None if self._spoke else loop.time() - began
            for timer in (self._head_timer, self._first_timer, self._block_timer):
                if timer is not None:
                    timer.cancel()


def _backlog(writer: Any) -> int:
    return writer.transport.get_write_buffer_size() if isinstance(writer, asyncio.StreamWriter) else 0
