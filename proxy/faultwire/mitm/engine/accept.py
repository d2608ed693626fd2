"""Gives a connection that was accepted to mitmproxy, or passes it on unread where a rule says so."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy.layers import modes

from faultwire.mitm import compat
from faultwire.mitm.compat import transports
from faultwire.mitm.engine.listeners import let_in
from faultwire.mitm.flow import captured
from faultwire.mitm.network.proxy_connection import CHAINED, ProxyFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from mitmproxy.proxy.mode_specs import ProxyMode

    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.sessions.session import Session

PIECE = 64 * 1024
SILENT_S = 1.0
"""Clients that connect by two addresses at once, and tests of whether a port is open, close sooner."""


class Acceptor:
    """Serves connections, and knows those that are open."""

    def __init__(
        self, gateway: Gateway, master: Any, proxyserver: Any, mode: ProxyMode, *, fast: bool
    ) -> None:
        self.open: set[asyncio.Task[None]] = set()
        self._gateway = gateway
        self._master = master
        self._proxyserver = proxyserver
        self._mode = mode
        hooks = compat.Hooks(master.addons.chain)
        self._kind: Callable[..., Any] = (
            partial(compat.FastHandler, hooks=hooks) if fast else compat.SafeHandler
        )

    async def serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        meant: tuple[Session, str, int] | None = None,
    ) -> None:
        """Serve a client of the proxy, or a connection of a session that was `meant` for a host and port."""
        handler = self._kind(self._master, reader, writer, self._master.options, self._mode, self._gateway)
        if meant is not None:
            captured.belongs(self._gateway, handler.client, meant[0])
        source = let_in(self._gateway, handler.client, writer)
        if source is None:
            return
        context = handler.layer.context
        handler.layer = modes.HttpProxy(context) if meant is None else compat.Captured(context, *meant[1:])
        self._keep()
        try:
            with self._proxyserver.register_connection(handler.client.id, handler):
                await handler.handle_client()
        finally:
            self._gateway.sources.leave(source)
            if meant is not None and handler.silent_s is not None and handler.silent_s >= SILENT_S:
                meant[0].namespace.say_nothing(meant[1:])

    async def relay(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        meant: tuple[Session, str, int],
    ) -> None:
        """Pass on what is said in a connection, both ways and unread, until one side has ended it."""
        session, host, port = meant
        self._keep()
        why = self._refusal(host, port)
        if why is not None:
            session.namespace.fail((host, port), why)
            transports.reset_now(writer)
            return
        CHAINED.set(self._gateway.routes.proxy(host, port, tls=True))
        try:
            theirs, to_them = await asyncio.open_connection(host, port)
        except (OSError, ProxyFailed) as error:
            session.namespace.fail((host, port), str(error) or type(error).__name__)
            transports.reset_now(writer)
            return
        session.namespace.relay((host, port))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass(reader, to_them))
                both.create_task(_pass(theirs, writer))
        finally:
            writer.close()
            to_them.close()

    def _refusal(self, host: str, port: int) -> str | None:
        """Why nothing is relayed there. What a name resolves to is checked where it is looked up."""
        guard, replays = self._gateway.guard, self._gateway.replays
        if replays is not None and replays.offline:
            return "a tape is replayed, and nothing is asked of any server"
        return guard.check_remote(host) or guard.check_literal(host, port)

    def _keep(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.open.add(task)
            task.add_done_callback(self.open.discard)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
