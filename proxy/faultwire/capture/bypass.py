"""What the kernel's tables of sockets say of connections that may have gone past the proxy. Pure: text in,
values out.

The tables are those of `/proc/PID/net/` (`tcp`, `tcp6`, `udp`, `udp6`; Linux, `Documentation/networking/
proc_net_tcp.rst`): one line for each socket of a network namespace. An address is written as 32-bit words in
the byte order of the machine, a port as a plain number, both in hexadecimal.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Iterator

Transport = Literal["tcp", "udp"]
TABLES: tuple[tuple[str, Transport], ...] = (
    ("tcp", "tcp"),
    ("tcp6", "tcp"),
    ("udp", "udp"),
    ("udp6", "udp"),
)
"""Files of `/proc/PID/net`, and what stands in them."""

LISTEN = "0A"
CONNECTED = frozenset({"01", "02", "04", "05", "08"})
"""ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT (`include/net/tcp_states.h`): what a process holds
that has connected, or tries to. A connected UDP socket is ESTABLISHED, too."""
DNS = 53
QUIC = 443
UNSPECIFIED = ("0.0.0.0", "::")
"""As `plain` writes them."""
_MAPPED = bytes(10) + b"\xff\xff"


@dataclass(frozen=True, slots=True)
class OutboundSocket:
    """A socket with a peer: `inode` tells which process has it. `local_port` may be that of a listener: then
    the peer has connected to us."""

    inode: int
    local_port: int
    to: Bypass


@dataclass(slots=True)
class SocketTable:
    """What one table says: the ports that are listened on, and the sockets that have a peer."""

    listening: set[int] = field(default_factory=set)
    open: list[OutboundSocket] = field(default_factory=list)


def read_table(
    text: str, transport: Transport, order: Literal["little", "big"] = sys.byteorder
) -> SocketTable:
    """Read one table. A line that is not as it must be is passed over: it tells nothing of any socket."""
    table = SocketTable()
    for local, remote, state, inode in _lines(text):
        if transport == "tcp" and state == LISTEN:
            port = _port(local)
            if port is not None:
                table.listening.add(port)
        elif state in CONNECTED and inode.isdecimal() and inode != "0":
            found = _outward(int(inode), local, remote, transport, order)
            if found is not None:
                table.open.append(found)
    return table


def counts(peer: Bypass) -> bool:
    """Can a connection to this peer be one that went past the proxy?

    Name servers are asked by everybody. UDP counts where it can be HTTP/3; a resolver connects UDP sockets to
    whatever it found for an instant, only to learn which of our addresses would be used (RFC 6724), so that
    whoever looks asks for a second sight of these.
    """
    if not peer.port or peer.port == DNS or peer.address in UNSPECIFIED:
        return False
    return peer.transport == "tcp" or peer.port == QUIC


def is_loopback(address: str) -> bool:
    """Does it stay on this machine?"""
    return ipaddress.ip_address(address).is_loopback


def _lines(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Local address, remote address, state and inode of each line; the first one is the heading."""
    for line in text.splitlines()[1:]:
        words = line.split(None, 10)
        if len(words) >= 10:
            yield words[1], words[2], words[3], words[9]


def _outward(
    inode: int, local: str, remote: str, transport: Transport, order: Literal["little", "big"]
) -> OutboundSocket | None:
    ours, port = _port(local), _port(remote)
    address = _address(remote.partition(":")[0], order)
    if ours is None or port is None or address is None:
        return None
    return OutboundSocket(inode, ours, Bypass(address, port, transport))


def _port(text: str) -> int | None:
    """The port of `ADDRESS:PORT`."""
    digits = text.partition(":")[2]
    if len(digits) != 4:
        return None
    try:
        return int.from_bytes(bytes.fromhex(digits))
    except ValueError:
        return None


def _address(digits: str, order: Literal["little", "big"]) -> str | None:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        return None
    if order == "little":
        data = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    return plain(data) if len(data) in (4, 16) and len(digits) == 2 * len(data) else None


def plain(data: bytes) -> str:
    """The text of an address of 4 or 16 bytes in network order; an IPv4 one that is mapped into IPv6
    (RFC 4291 §2.5.5.2) is the IPv4 one."""
    if len(data) == 16 and data.startswith(_MAPPED):
        data = data[len(_MAPPED) :]
    # Of longer ones the two write some otherwise (`::203.0.113.5`).
    return socket.inet_ntoa(data) if len(data) == 4 else str(ipaddress.IPv6Address(data))
