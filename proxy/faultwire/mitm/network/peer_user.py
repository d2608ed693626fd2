"""The user whose process is at the other end of a TCP connection from this machine.

Linux tells it of one connection over netlink (`sock_diag(7)`, layouts in `linux/inet_diag.h`), which takes
20 to 30 µs however many sockets there are; where that is not to be had, `/proc/net/tcp` says the same. Both
tell of our own network namespace: a process that reaches us from another one is at no socket found here.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Place = tuple[str, int]

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
REQUEST, ERROR = 0x1, 2
LISTEN = 10
"""The state of a socket that listens (`TCP_LISTEN`): a look-up falls back to it."""
WAIT_S = 0.25
KNOWN = sys.platform == "linux"
"""Can this system say whose a connection is?"""
_HEAD = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBxI2s2s16s16sIII")
_FOUND = struct.Struct("=BBxx48xIIIII")
_ANY_COOKIE = 0xFFFFFFFF


def user_of(theirs: Place, ours: Place) -> int | None:
    """The user id of the process that has the connection from `theirs` to `ours`.

    None where there is no such socket on this machine, or its process has closed it. Raises OSError where the
    system does not tell.
    """
    try:
        return read(_by_netlink(theirs, ours))
    except OSError:
        return _by_proc(theirs, ours)


def inode_of(theirs: Place, ours: Place) -> int | None:
    """The number of that socket, by which its process is found. As `user_of`, by netlink alone."""
    found = _read(_by_netlink(theirs, ours))
    return found[1] if found else None


def _by_netlink(theirs: Place, ours: Place) -> bytes:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as asked:
        asked.settimeout(WAIT_S)
        asked.send(question(theirs, ours))
        return asked.recv(4096)


def question(theirs: Place, ours: Place) -> bytes:
    """Ask for the one socket that is at `theirs` and leads to `ours`."""
    source, target = _packed(theirs[0]), _packed(ours[0])
    family = socket.AF_INET if len(source) == 4 else socket.AF_INET6
    ports = theirs[1].to_bytes(2), ours[1].to_bytes(2)
    places = source.ljust(16, b"\0"), target.ljust(16, b"\0")
    body = _ASKED.pack(family, socket.IPPROTO_TCP, 0, _ANY_COOKIE, *ports, *places, 0, *(_ANY_COOKIE,) * 2)
    return _HEAD.pack(_HEAD.size + len(body), SOCK_DIAG_BY_FAMILY, REQUEST, 1, 0) + body


def read(answer: bytes) -> int | None:
    """The user in an answer. Raises OSError for one that is none of the kernel's."""
    found = _read(answer)
    return found[0] if found else None


def _read(answer: bytes) -> tuple[int, int] | None:
    """The user and the number of the socket."""
    if len(answer) < _HEAD.size + 4:
        raise OSError("sock_diag did not respond")
    _, kind, *_ = _HEAD.unpack_from(answer)
    if kind == ERROR:
        code = -int.from_bytes(answer[_HEAD.size : _HEAD.size + 4], sys.byteorder, signed=True)
        if code == 2:  # ENOENT: no such socket
            return None
        raise OSError(code, "sock_diag refused")
    if kind != SOCK_DIAG_BY_FAMILY or len(answer) < _HEAD.size + _FOUND.size:
        raise OSError("sock_diag did not respond")
    _, state, _, _, _, user, inode = _FOUND.unpack_from(answer, _HEAD.size)
    # A socket that its process has closed has no inode, and belongs to user 0 here.
    return (int(user), int(inode)) if inode and state != LISTEN else None


def _by_proc(theirs: Place, ours: Place) -> int | None:
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as table:
            found = find(table, theirs, ours, name == "tcp6")
        if found is not None:
            return found
    return None


def find(table: Iterable[str], theirs: Place, ours: Place, version6: bool) -> int | None:
    """The user in a table as `/proc/net/tcp` has it."""
    wanted = [hexadecimal(theirs, version6), hexadecimal(ours, version6)]
    for line in table:
        fields = line.split()
        if fields[1:3] == wanted and fields[9] != "0":
            return int(fields[7])
    return None


def hexadecimal(place: Place, version6: bool) -> str:
    """An address as `/proc/net/tcp`, or `tcp6`, has it."""
    packed = _packed(place[0])
    if version6 and len(packed) == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    text = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{text}:{place[1]:04X}"


def _packed(address: str) -> bytes:
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).packed
