"""Where a redirected connection was meant to go, as the packet filter says it."""

from __future__ import annotations

import socket
import struct

from faultwire.mitm.network.original_destination import decoded


def test_the_address_and_port_of_ipv4_are_read() -> None:
    data = struct.pack("=H", socket.AF_INET) + b"\x01\xbb\xcb\x00\x71\x05" + bytes(8)
    assert decoded(data) == ("203.0.113.5", 443)


def test_the_address_and_port_of_ipv6_are_read_and_flow_and_scope_are_not() -> None:
    address = socket.inet_pton(socket.AF_INET6, "2001:db8::5")
    data = struct.pack("=H", socket.AF_INET6) + b"\x20\xfb" + b"\xaa" * 4 + address + b"\xbb" * 4
    assert decoded(data) == ("2001:db8::5", 8443)
