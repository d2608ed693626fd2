"""Connections that reach the engine as packets: through a WireGuard tunnel, or by a TUN interface of Linux.

mitmproxy's own network stack makes connections of them. Whoever has the tunnel's key, or may route into the
interface, is let in, and belongs to one session; its names are answered as in a network namespace of ours.
"""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from faultwire._core import glob_match
from faultwire.errors import UsageError
from faultwire.mitm.compat import stream_transport
from faultwire.mitm.engine import name_server
from faultwire.mitm.network import dns
from faultwire.mitm.network.refused_packets import RefusedPacket

if TYPE_CHECKING:
    from faultwire.mitm.captured_settings import PacketSettings
    from faultwire.mitm.engine.accept import Acceptor
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Sessions

DNS = 53
NAMES_IDLE_S = 30.0
"""How long a client's UDP port may ask no name."""


class PacketServer:
    """The tunnel, or the interface, of one session. Made in the event loop."""

    def __init__(self, settings: PacketSettings, sessions: Sessions, acceptor: Acceptor) -> None:
        self.session = settings.session
        self._settings = settings
        self._sessions = sessions
        self._acceptor = acceptor
        self._names = dns.Names()
        self._server: Any = None
        self._found: Session | None = None

    async def start(self) -> None:
        """Take packets. Raises UsageError where the port or the interface cannot be had."""
        settings = self._settings
        try:
            if settings.kind == "wireguard":
                from mitmproxy_rs import wireguard

                host, port = settings.listen
                keys = (settings.private_key, [settings.peer_key])
                self._server = await wireguard.start_wireguard_server(
                    host, port, *keys, self._take, self._take_datagrams
                )
            else:
                from mitmproxy_rs import tun  # there is none where the system has no such interfaces

                self._server = await tun.create_tun_interface(
                    self._take, self._take_datagrams, tun_name=settings.device
                )
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise _refusal(settings, error) from error

    def close(self) -> None:
        """Take nothing more."""
        self._owner()  # a session to which nothing has come says so
        if self._server is not None:
            self._server.close()

    async def end(self) -> None:
        """Take nothing more, and wait until nothing more can come."""
        self.close()
        if self._server is not None:
            await self._server.wait_closed()

    # ------------------------------------------------------------ connections

    async def _take(self, stream: Any) -> None:
        session = self._owner()
        address, port = stream.get_extra_info("sockname")[:2]
        if session is None:
            stream.close()
            return
        reader, writer = stream_transport.opened(stream, session.namespace.end_unreset)
        session.namespace.take("tcp", plain_address(address), port)
        session.namespace.arrive(stream.get_extra_info("peername")[0])
        if port == DNS:
            await name_server.serve(reader, writer, self._names)
            return
        meant = (session, self.host(address), port)
        serve = self._acceptor.relay if self._relays(meant[1], port) else self._acceptor.serve
        await serve(reader, writer, meant)

    def host(self, address: str) -> str:
        """The name for which an address stands, or the address."""
        plain = plain_address(address)
        return self._names.name(plain) or plain

    def _relays(self, host: str, port: int) -> bool:
        return any(glob_match(rule, f"{host}:{port}") for rule in self._settings.relays)

    def _owner(self) -> Session | None:
        if self._found is None:
            self._found = next((one for one in self._sessions if one.name == self.session), None)
            if self._found is not None:
                self._found.namespace.packets = self._settings.name
        return self._found

    # ------------------------------------------------------------ datagrams

    async def _take_datagrams(self, stream: Any) -> None:
        session = self._owner()
        address, port = stream.get_extra_info("sockname")[:2]
        if session is not None:
            session.namespace.take("udp", plain_address(address), port)
        if port == DNS:
            await self._answer(stream)
        elif session is not None:
            session.namespace.refuse(RefusedPacket("udp", address, port), self.host(address))
        stream.close()

    async def _answer(self, stream: Any) -> None:
        with suppress(TimeoutError, OSError):
            while True:
                async with asyncio.timeout(NAMES_IDLE_S):
                    query = await stream.read(65_535)
                answer = dns.respond(query, self._names) if query else None
                if answer is None:
                    return
                stream.write(answer)
                await stream.drain()


def plain_address(address: str) -> str:
    """An address as text, without a scope."""
    return str(ipaddress.ip_address(address.partition("%")[0]))


def _refusal(settings: PacketSettings, failed: Exception) -> UsageError:
    error = str(failed).splitlines()[0]  # a trace of the network stack may follow
    if settings.kind == "wireguard":
        host, port = settings.listen
        return UsageError(
            f"UDP `{host}:{port}` cannot be listened on: {error}",
            code="engine.port",
            hint="another program has it; choose another `--wireguard-listen`",
        )
    return UsageError(
        f"the network interface `{settings.device}` cannot be made: {error}",
        code="engine.tun",
        hint="it needs Linux, /dev/net/tun and CAP_NET_ADMIN (root), and a name that no interface has; "
        "`--capture wireguard` needs none of these",
    )
