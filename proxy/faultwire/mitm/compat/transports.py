"""The sockets under mitmproxy's connections."""

from __future__ import annotations

import asyncio
import select
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mitmproxy import ctx
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers.http import HttpLayer, HttpStream

if TYPE_CHECKING:
    from mitmproxy.connection import Client, Connection
    from mitmproxy.proxy.layer import Layer

FLUSH_S = 5.0
"""How long a reset waits for a slow client to take what was sent before it."""


def handler_of(client: Client) -> Any:
    """The handler of a live client connection, or None."""
    proxyserver: Any = ctx.master.addons.get("proxyserver")
    return proxyserver.connections.get(client.id) if proxyserver is not None else None


def handler_by_id(client_id: str) -> Any:
    """The same for a client's id."""
    proxyserver: Any = ctx.master.addons.get("proxyserver")
    return proxyserver.connections.get(client_id) if proxyserver is not None else None


def abort(client_id: str) -> None:
    """Close a client's connection, if it is open."""
    handler = handler_by_id(client_id)
    if handler is not None:
        handler.abort()


def writer_of(client: Client, connection: Connection) -> asyncio.StreamWriter | None:
    """The writer of one of a client's connections (itself, or a server's), if it is open."""
    handler = handler_of(client)
    transport = handler.transports.get(connection) if handler is not None else None
    writer = transport.writer if transport is not None else None
    return writer if isinstance(writer, asyncio.StreamWriter) else None


BEHIND = 64 * 1024
"""Bytes that a client has not taken yet from which on its servers are not read (as asyncio has it)."""


def is_behind(client: Client) -> bool:
    """Does a client take so slowly what it is sent that its servers are not read?"""
    writer = writer_of(client, client)
    return writer is not None and writer.transport.get_write_buffer_size() > BEHIND


def lags_behind(client: Client) -> bool:
    """Is a client not read from, because a server, a fault or the tape has to catch up?"""
    handler = handler_of(client)
    return bool(getattr(handler, "lags_behind", False))


def is_quiet(client: Client, connection: Connection) -> bool:
    """Is there nothing to read on an idle connection to a server? Its end would be something."""
    writer = writer_of(client, connection)
    sock = writer.get_extra_info("socket") if writer is not None else None
    if sock is None or sock.fileno() < 0:
        return True
    looking = select.poll()  # `select.select` takes no descriptor over 1023
    looking.register(sock.fileno(), select.POLLIN)
    return not looking.poll(0)


_WAKING: set[asyncio.Task[None]] = set()


def wake(client: Client, stream: Layer) -> None:
    """Let a stream handle a `Wakeup`, as if it had asked its connection for one."""
    handler = handler_of(client)
    if handler is None:
        return
    command, above = commands.RequestWakeup(0), None
    for layer in stream.context.layers:
        if isinstance(layer, HttpLayer):
            above = layer
        elif isinstance(layer, HttpStream) and above is not None:
            above.command_sources[command] = layer
    task = asyncio.create_task(handler.server_event(events.Wakeup(command)))
    _WAKING.add(task)
    task.add_done_callback(_WAKING.discard)


def drop(client: Client, connection: Connection) -> None:
    """End one of a client's connections to servers; the layers hear that it was closed."""
    writer = writer_of(client, connection)
    if writer is not None:
        writer.transport.abort()


async def reset(writer: asyncio.StreamWriter) -> None:
    """Send what is still to be sent, then abort the connection with a TCP RST."""
    writer.transport.set_write_buffer_limits(high=0)
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_S):
            await writer.drain()
    reset_now(writer)


def reset_now(writer: asyncio.StreamWriter) -> None:
    """Abort a connection with a TCP RST, whatever is still to be sent."""
    transport: Any = writer.transport
    if hasattr(transport, "reset"):  # a `StreamTransport`: its network stack has no other end
        transport.reset()
        return
    sock = writer.get_extra_info("socket")
    if sock is not None:
        # l_onoff 1, l_linger 0: close() then drops the connection instead of ending it.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def hang_up(client: Client) -> None:
    """Reset a client's connection."""
    writer = writer_of(client, client)
    if writer is not None:
        reset_now(writer)


def read_more(client: Client, connection: Connection, *, paused: bool) -> None:
    """Stop or go on reading from a connection; a stock mitmdump cannot, and keeps all in memory."""
    handler = handler_of(client)
    if not hasattr(handler, "hold"):
        return
    if paused:
        handler.hold(connection)
    else:
        handler.let_go(connection)
