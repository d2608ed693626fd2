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

from faultwire.capture.bypass import CONNECTED, LISTEN, Outward, Table, plain
from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Iterator

NETLINK_SOCK_DIAG = 4
BY_FAMILY = 20
"""`SOCK_DIAG_BY_FAMILY`."""
REQUEST, DUMP = 0x1, 0x300
ERROR, DONE = 2, 3
WAIT_S = 1.0
_HEAD = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBxI48x")
_SOCKET = struct.Struct("=BBxx2s2s16s16s4x8x4x4x4x4xI")
_STATES = sum(1 << int(state, 16) for state in (*CONNECTED, LISTEN))
_ROOM = 1 << 17


def read() -> Table:
    """The TCP sockets of our own network namespace. Raises OSError where the kernel does not tell."""
    table = Table()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as asked:
        asked.settimeout(WAIT_S)
        for family in (socket.AF_INET, socket.AF_INET6):
            asked.send(question(family))
            while not take(asked.recv(_ROOM), table):
                pass
    return table


def question(family: int) -> bytes:
    """Ask for all TCP sockets of a family that listen or have a peer."""
    body = _ASKED.pack(family, socket.IPPROTO_TCP, 0, _STATES)
    return _HEAD.pack(_HEAD.size + len(body), BY_FAMILY, REQUEST | DUMP, 1, 0) + body


def take(data: bytes, table: Table) -> bool:
    """Put what a part of an answer says into a table; True where it is the last part.

    Raises OSError for an answer that is an error, or none that could be read.
    """
    for kind, body in _messages(data):
        if kind == DONE:
            return True
        if kind == ERROR or len(body) < _SOCKET.size:
            raise OSError("sock_diag has no answer")
        family, state, local, remote, _, address, inode = _SOCKET.unpack_from(body)
        ours, port = int.from_bytes(local), int.from_bytes(remote)
        if f"{state:02X}" == LISTEN:
            table.listening.add(ours)
        elif inode:
            peer = plain(address[:4] if family == socket.AF_INET else address)
            table.open.append(Outward(inode, ours, Bypass(peer, port)))
    return False


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise OSError("a message of netlink is cut short")
        size, kind, *_ = _HEAD.unpack_from(data, at)
        if not _HEAD.size <= size <= len(data) - at:
            raise OSError("a message of netlink has no size that it can have")
        yield kind, data[at + _HEAD.size : at + size]
        at += (size + 3) & ~3
