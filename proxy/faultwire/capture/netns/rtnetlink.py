"""What is asked of the kernel to make every address one of this machine, over `rtnetlink(7)`.

Pure but for `ask`: messages in, messages out. Layouts: `linux/netlink.h`, `linux/rtnetlink.h`,
`linux/if_link.h`. The same as `ip link set lo up` and `ip route add local default dev lo`, without a program
that may not be installed.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NETLINK_ROUTE = 0
NEWLINK, GETLINK, NEWROUTE = 16, 18, 24
REQUEST, ACK, EXCL, CREATE, DUMP = 0x1, 0x4, 0x200, 0x400, 0x300
ERROR, DONE = 2, 3
IFF_UP = 1
IFLA_IFNAME, RTA_OIF = 3, 4
TABLE_LOCAL, PROTO_BOOT, SCOPE_HOST, RTN_LOCAL = 255, 3, 254, 2
WAIT_S = 5.0
_HEAD = struct.Struct("=IHHII")
_LINK = struct.Struct("=BxHiII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HH")
_ROOM = 1 << 16


def connect() -> socket.socket:
    """A socket to ask over. Raises OSError."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE)
    made.settimeout(WAIT_S)
    return made


def link_up(index: int) -> bytes:
    """Set an interface up."""
    return _message(NEWLINK, REQUEST | ACK, _LINK.pack(socket.AF_UNSPEC, 0, index, IFF_UP, IFF_UP))


def local_default(family: int, index: int) -> bytes:
    """Make every address of a family one that this network namespace has itself."""
    scope = SCOPE_HOST if family == socket.AF_INET else 0
    route = _ROUTE.pack(family, 0, 0, 0, TABLE_LOCAL, PROTO_BOOT, scope, RTN_LOCAL, 0)
    device = _ATTRIBUTE.pack(_ATTRIBUTE.size + 4, RTA_OIF) + struct.pack("=I", index)
    return _message(NEWROUTE, REQUEST | ACK | CREATE | EXCL, route + device)


def all_links() -> bytes:
    """Ask for every interface."""
    return _message(GETLINK, REQUEST | DUMP, _LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0))


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return _HEAD.pack(_HEAD.size + len(body), kind, flags, 1, 0) + body


def ask(route: socket.socket, message: bytes) -> None:
    """Send a message that is acknowledged. Raises OSError with the kernel's reason."""
    route.send(message)
    for kind, body in messages(route.recv(_ROOM)):
        if kind == ERROR:
            code = -int.from_bytes(body[:4], "little" if struct.pack("=H", 1)[0] else "big", signed=True)
            if code:
                raise OSError(code, os.strerror(code))


def links(route: socket.socket) -> tuple[str, ...]:
    """The names of all interfaces in the network namespace of a socket. Raises OSError."""
    route.send(all_links())
    found: list[str] = []
    while True:
        for kind, body in messages(route.recv(_ROOM)):
            if kind == DONE:
                return tuple(sorted(found))
            if kind == ERROR:
                raise OSError("rtnetlink did not respond")
            if kind == NEWLINK:
                found += [name for name in (_name(body),) if name]


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and body of each message. Raises OSError where one has no size that it can have."""
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise OSError("a message of netlink is cut short")
        size, kind, *_ = _HEAD.unpack_from(data, at)
        if not _HEAD.size <= size <= len(data) - at:
            raise OSError("a message of netlink has no size that it can have")
        yield kind, data[at + _HEAD.size : at + size]
        at += (size + 3) & ~3


def _name(body: bytes) -> str:
    at = _LINK.size
    while at + _ATTRIBUTE.size <= len(body):
        size, kind = _ATTRIBUTE.unpack_from(body, at)
        if size < _ATTRIBUTE.size:
            break
        if kind == IFLA_IFNAME:
            return body[at + _ATTRIBUTE.size : at + size].rstrip(b"\0").decode("utf-8", "replace")
        at += (size + 3) & ~3
    return ""
