"""What the kernel answers over netlink, byte for byte, without a kernel."""

from __future__ import annotations

import socket
import struct

import pytest

from faultwire.capture import sock_diag
from faultwire.capture.bypass import OutboundSocket, SocketTable
from faultwire.events import Bypass

DONE = struct.pack("=IHHIIi", 20, 3, 2, 1, 0, 0)


def told(family: int, state: int, local: int, remote: int, address: bytes, inode: int) -> bytes:
    body = struct.pack("=BBBB", family, state, 0, 0) + struct.pack(">HH", local, remote)
    body += bytes(16) + address.ljust(16, b"\0")
    body += struct.pack("=I8sIIIII", 0, b"cookie..", 0, 0, 0, 1000, inode)
    assert len(body) == 72  # sizeof(struct inet_diag_msg)
    return struct.pack("=IHHII", 16 + len(body), 20, 2, 1, 0) + body


def test_sockets_with_a_peer_and_listeners() -> None:
    table = SocketTable()
    data = told(socket.AF_INET, 1, 34152, 443, bytes([203, 0, 113, 5]), 77)
    data += told(socket.AF_INET6, 2, 34153, 8443, socket.inet_pton(socket.AF_INET6, "2001:db8::7"), 78)
    data += told(socket.AF_INET6, 8, 1, 443, bytes(10) + b"\xff\xff" + bytes([203, 0, 113, 6]), 79)
    data += told(socket.AF_INET, 10, 8080, 0, b"", 80)
    data += told(socket.AF_INET, 4, 5, 443, bytes([203, 0, 113, 7]), 0)
    assert not sock_diag.take(data, table)
    assert sock_diag.take(DONE, table)
    assert table.listening == {8080}
    assert table.open == [
        OutboundSocket(77, 34152, Bypass("203.0.113.5", 443)),
        OutboundSocket(78, 34153, Bypass("2001:db8::7", 8443)),
        OutboundSocket(79, 1, Bypass("203.0.113.6", 443)),
    ]


def test_only_sockets_that_are_asked_for_and_all_that_listen() -> None:
    table = SocketTable()
    data = told(socket.AF_INET, 1, 34152, 443, bytes([203, 0, 113, 5]), 77)
    data += told(socket.AF_INET, 1, 34153, 443, bytes([203, 0, 113, 6]), 78)
    data += told(socket.AF_INET, 10, 8080, 0, b"", 80)
    sock_diag.take(data + DONE, table, frozenset({78}))
    assert table.listening == {8080}
    assert table.open == [OutboundSocket(78, 34153, Bypass("203.0.113.6", 443))]


def test_the_question_names_the_states() -> None:
    asked = sock_diag.question()
    size, kind, flags, _, _ = struct.unpack_from("=IHHII", asked)
    assert (size, len(asked), kind, flags) == (76, 76, 18, 0x301)
    rest = struct.unpack_from("=BBBB48sII", asked, 16)  # struct inet_diag_req
    states = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 10
    assert rest == (0, 0, 0, 0, bytes(48), states, 0)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("=IHHIIi", 20, 2, 0, 1, 0, -2),  # an error
        b"\x14\0",
        struct.pack("=IHHII", 3, 20, 2, 1, 0),  # shorter than its own head
        struct.pack("=IHHII", 900, 20, 2, 1, 0),  # longer than what came
        struct.pack("=IHHII", 24, 20, 2, 1, 0) + bytes(8),  # no room for a socket
    ],
)
def test_what_is_no_answer_is_an_error(data: bytes) -> None:
    with pytest.raises(OSError, match=r"netlink|sock_diag"):
        sock_diag.take(data, SocketTable())
