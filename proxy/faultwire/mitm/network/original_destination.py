"""Where a connection was meant to go before the packet filter redirected it to us (Linux)."""

from __future__ import annotations

import socket
import struct

SO_ORIGINAL_DST = 80
"""`linux/netfilter_ipv4.h`; IP6T_SO_ORIGINAL_DST has the same number."""
SHAPES = {socket.AF_INET: (socket.IPPROTO_IP, 16), socket.AF_INET6: (socket.IPPROTO_IPV6, 28)}
"""The level of the option, and the bytes of its answer."""


def original_destination(sock: socket.socket) -> tuple[str, int] | None:
    """Address and port that the client had connected to; None where nothing had redirected it."""
    level, size = SHAPES[sock.family]
    try:
        found = decoded(sock.getsockopt(level, SO_ORIGINAL_DST, size))
    except OSError:  # the packet filter knows nothing of it
        return None
    return None if found == sock.getsockname()[:2] else found


def decoded(data: bytes) -> tuple[str, int]:
    """Address and port in a `sockaddr_in` (family, port, address, padding), or a `sockaddr_in6` (family,
    port, flow, address, scope)."""
    six = len(data) != SHAPES[socket.AF_INET][1]
    port, packed = struct.unpack("!2xH4x16s4x" if six else "!2xH4s8x", data)
    return socket.inet_ntop(socket.AF_INET6 if six else socket.AF_INET, packed), port
