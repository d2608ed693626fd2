"""An answer leaves from the address that was asked. (With sockets: `tests/e2e/netns`.)"""

from __future__ import annotations

import socket
import struct

from faultwire.mitm.engine.namespace import IP_PKTINFO, _back


def test_the_address_that_was_asked_answers() -> None:
    given = struct.pack("=i4s4s", 1, b"\x7f\0\0\1", b"\x7f\0\0\x35")
    level, kind, data = _back((socket.IPPROTO_IP, IP_PKTINFO, given))
    assert (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO)
    assert struct.unpack("=i4s4s", data)[:2] == (0, b"\x7f\0\0\x35")
    six = bytes(range(16)) + struct.pack("=i", 1)
    assert _back((socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, six))[2] == bytes(range(16)) + bytes(4)


def test_other_messages_are_not_sent_back() -> None:
    assert _back((socket.SOL_SOCKET, 29, bytes(16))) is None
    assert _back((socket.IPPROTO_IP, IP_PKTINFO, b"short")) is None
