"""From a packet that refuses, the place that was refused."""

from __future__ import annotations

import ipaddress
import struct

import pytest

from faultwire.mitm.network.refused_packets import RefusedPacket, read

SERVER, CLIENT = "198.18.0.1", "198.18.0.9"


def ip(protocol: int, source: str, target: str, body: bytes) -> bytes:
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    if ":" in source:
        return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + ends + body
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0) + ends + body


@pytest.mark.parametrize(("server", "client"), [(SERVER, CLIENT), ("2001:db8::1", "2001:db8::2")])
def test_a_reset_comes_from_where_nobody_listens(server: str, client: str) -> None:
    reset = struct.pack(">HHIIBBHHH", 5432, 40000, 0, 1, 0x50, 0x14, 0, 0, 0)
    assert read(ip(6, server, client, reset)) == RefusedPacket("tcp", server, 5432)


@pytest.mark.parametrize(
    ("server", "client", "icmp", "kind"),
    [(SERVER, CLIENT, 1, b"\3\3"), ("2001:db8::1", "2001:db8::2", 58, b"\1\4")],
)
def test_icmp_quotes_what_was_refused(server: str, client: str, icmp: int, kind: bytes) -> None:
    sent = ip(17, client, server, struct.pack(">HHHH", 40000, 443, 9, 0) + b"x")
    assert read(ip(icmp, server, client, kind + bytes(6) + sent)) == RefusedPacket("udp", server, 443)


def test_what_refuses_nothing_says_nothing() -> None:
    sent = ip(17, CLIENT, SERVER, struct.pack(">HHHH", 40000, 443, 9, 0))
    assert read(ip(1, SERVER, CLIENT, b"\3\1" + bytes(6) + sent)) is None  # a host, not a port
    assert read(ip(1, SERVER, CLIENT, b"\3\3" + bytes(6) + sent[:21])) is None
    assert read(ip(17, SERVER, CLIENT, bytes(8))) is None
    assert read(b"") is None
    assert read(b"\x45\0") is None
