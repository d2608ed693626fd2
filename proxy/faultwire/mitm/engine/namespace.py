"""The engine's side of a network namespace: it accepts there, answers for names, and counts what is refused.

The sockets were opened inside and belong there for as long as they live; the process that made them is gone.
When this engine ends, however it does, nobody listens any more, and connections are refused.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from faultwire._core import glob_match
from faultwire.mitm.engine import name_server
from faultwire.mitm.engine.listeners import listen
from faultwire.mitm.network import dns, refused_packets
from faultwire.mitm.network.original_destination import original_destination

if TYPE_CHECKING:
    from faultwire.mitm.captured_settings import NamespaceSettings
    from faultwire.mitm.engine.accept import Acceptor
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Sessions

SOL_PACKET, PACKET_STATISTICS = 263, 6
IP_PKTINFO = 8
LONGEST_QUERY = 4096
PACKET = 256
"""Bytes of a packet that are looked at: two IP headers, and what is between and behind them."""
AT_ONCE = 1000
"""Packets that are read before others have their turn."""
LOOPBACK = ("127.0.0.1", "::1")


class Namespace:
    """One namespace, for one session. Made in the event loop."""

    def __init__(self, settings: NamespaceSettings, sessions: Sessions, acceptor: Acceptor) -> None:
        self.session = settings.session
        self._settings = settings
        self._sessions = sessions
        self._acceptor = acceptor
        self._names = dns.Names(ipv6=settings.ipv6)
        self._servers: list[asyncio.Server] = []
        self._readers: list[socket.socket] = []
        self._packets: list[socket.socket] = []
        self._found: Session | None = None

    async def start(self) -> None:
        """Serve all sockets."""
        loop = asyncio.get_running_loop()
        for fd in self._settings.listeners:
            sock = _taken(fd)
            self._servers.append(await asyncio.start_server(self._accept, sock=sock, backlog=512))
        if self._settings.redirected is not None:
            for host in LOOPBACK if self._settings.ipv6 else LOOPBACK[:1]:
                server = await listen(host, self._settings.redirected, self._accept)
                self._servers.append(server)
                await server.start_serving()
        for fd in self._settings.dns:
            sock = _taken(fd)
            if sock.type == socket.SOCK_STREAM:
                self._servers.append(await asyncio.start_server(self._answer_stream, sock=sock, backlog=64))
            else:
                loop.add_reader(sock, self._answer_datagrams, sock)
                self._readers.append(sock)
        for fd in self._settings.refusals:
            sock = _taken(fd)
            loop.add_reader(sock, self._read_refusals, sock)
            self._packets.append(sock)

    def close(self) -> None:
        """Take nothing more, and count what is left to count."""
        loop = asyncio.get_running_loop()
        for server in self._servers:
            server.close()
        for sock in self._packets:
            self._read_refusals(sock)
            self._count_lost(sock)
        for sock in (*self._readers, *self._packets):
            loop.remove_reader(sock)
            sock.close()
        self._servers, self._readers, self._packets = [], [], []

    async def end(self) -> None:
        """Nothing comes once it is closed."""
        self.close()

    # ------------------------------------------------------------ connections

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = self._owner()
        sock = writer.get_extra_info("socket")
        place = original_destination(sock) if self._settings.redirected else sock.getsockname()
        if session is None or place is None:
            writer.transport.abort()
            return
        address, port = place[:2]
        meant = (session, self.host(address), port)
        serve = self._acceptor.relay if self._relays(meant[1], port) else self._acceptor.serve
        await serve(reader, writer, meant)

    def host(self, address: str) -> str:
        """The name for which an address stands, or the address."""
        return self._names.name(address) or address.partition("%")[0]

    def _relays(self, host: str, port: int) -> bool:
        return any(glob_match(rule, f"{host}:{port}") for rule in self._settings.relays)

    def _owner(self) -> Session | None:
        if self._found is None:
            self._found = next((one for one in self._sessions if one.name == self.session), None)
        return self._found

    # ------------------------------------------------------------ names

    def _answer_datagrams(self, sock: socket.socket) -> None:
        with suppress(BlockingIOError):
            for _ in range(AT_ONCE):
                query, rights, _, peer = sock.recvmsg(LONGEST_QUERY, 256)
                answer = dns.respond(query, self._names)
                if answer is not None:
                    with suppress(OSError):  # the one who asked is gone
                        sock.sendmsg([answer], [one for one in map(_back, rights) if one], 0, peer)

    async def _answer_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await name_server.serve(reader, writer, self._names)

    # ------------------------------------------------------------ what is refused

    def _read_refusals(self, sock: socket.socket) -> None:
        session = self._owner()
        with suppress(BlockingIOError):
            for _ in range(AT_ONCE):
                found = refused_packets.read(sock.recv(PACKET))
                if found is not None and session is not None:
                    session.namespace.refuse(found, self.host(found.address))

    def _count_lost(self, sock: socket.socket) -> None:
        session = self._owner()
        if session is not None:
            _, lost = struct.unpack("=II", sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
            session.namespace.lost += lost


def _taken(fd: int) -> socket.socket:
    sock = socket.socket(fileno=fd)
    sock.setblocking(False)
    sock.set_inheritable(False)
    return sock


def _back(given: tuple[int, int, bytes]) -> Any:
    """From the address at which a datagram came in, the control message that lets the answer leave there."""
    level, kind, data = given
    if (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO) and len(data) >= 12:
        # struct in_pktinfo: interface, local address, destination in the header. Sent, the second counts.
        return level, kind, struct.pack("=i4s4s", 0, data[8:12], b"\0" * 4)
    if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO) and len(data) >= 20:
        return level, kind, data[:16] + b"\0" * 4
    return None
