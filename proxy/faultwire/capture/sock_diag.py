"""The kernel's sockets over netlink, and what its answer says.

`sock_diag(7)` gives what `/proc/net/tcp` gives, and leaves out the empty places of a table of sockets that
grows with the machine's memory: where one look at the file takes milliseconds, this takes a fraction of one.
It tells only of the network namespace that we are in ourselves. Layouts: `linux/netlink.h`,
`linux/sock_diag.h`, `linux/inet_diag.h`.
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

from faultwire.capture.bypass import CONNECTED, LISTEN, OutboundSocket, SocketTable, plain
from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

NETLINK_SOCK_DIAG = 4
GETSOCK = 18
"""`TCPDIAG_GETSOCK`: the TCP sockets of both families at once. With `SOCK_DIAG_BY_FAMILY`, which came after
it, the kernel walks through the same table of all sockets once for each family."""
REQUEST, DUMP = 0x1, 0x300
ERROR, DONE = 2, 3
WAIT_S = 1.0
_HEAD = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBx48xII")
_SOCKET = struct.Struct("=BBxx2s2s16x16s4x8x4x4x4x4xI")
_LISTEN = int(LISTEN, 16)
_STATES = sum(1 << int(state, 16) for state in (*CONNECTED, LISTEN))
_ROOM = 1 << 17


def read(wanted: Container[int] | None = None) -> SocketTable:
    """The TCP sockets of our own network namespace: all that listen, and with a peer those whose inodes are
    `wanted`. Raises OSError where the kernel does not tell."""
    table = SocketTable()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as asked:
        asked.settimeout(WAIT_S)
        asked.send(question())
        while not take(asked.recv(_ROOM), table, wanted):
            pass
    return table


def question() -> bytes:
    """Ask for all TCP sockets that listen or have a peer."""
    body = _ASKED.pack(socket.AF_UNSPEC, 0, 0, _STATES, 0)
    return _HEAD.pack(_HEAD.size + len(body), GETSOCK, REQUEST | DUMP, 1, 0) + body


def take(data: bytes, table: SocketTable, wanted: Container[int] | None = None) -> bool:
    """Put what a part of an answer says into a table; True where it is the last part.

    Raises OSError for an answer that is an error, or none that could be read.
    """
    for kind, at, size in _messages(data):
        if kind == DONE:
            return True
        if kind == ERROR or size < _SOCKET.size:
            raise OSError("sock_diag did not respond")
        family, state, local, remote, address, inode = _SOCKET.unpack_from(data, at)
        if state == _LISTEN:
            table.listening.add(int.from_bytes(local))
        elif inode and (wanted is None or inode in wanted):
            peer = plain(address[:4] if family == socket.AF_INET else address)
            table.open.append(
                OutboundSocket(inode, int.from_bytes(local), Bypass(peer, int.from_bytes(remote)))
            )
    return False


def _messages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind of each message, where what it says begins, and how many bytes that has."""
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise OSError("a message of netlink is cut short")
        size, kind, *_ = _HEAD.unpack_from(data, at)
        if not _HEAD.size <= size <= len(data) - at:
            raise OSError("a message of netlink has no size that it can have")
        yield kind, at + _HEAD.size, size - _HEAD.size
        at += (size + 3) & ~3
