"""The kernel's filter, run here instruction by instruction: it passes what refuses, and nothing else."""

from __future__ import annotations

import ipaddress
import struct

import pytest

from faultwire.capture.netns.refusals import IPV4, IPV6, Instruction

RST, ACK, SYN = 0x04, 0x10, 0x02


def passes(program: tuple[Instruction, ...], packet: bytes) -> bool:
    """What the kernel does with a packet (`net/core/filter.c`); reading beyond its end drops it."""
    at = a = x = 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        size = {0x30: 1, 0x50: 1, 0xB1: 1, 0x20: 4, 0x40: 4}.get(code)
        if size is not None:
            place = k + (x if code in (0x50, 0x40) else 0)
            if place + size > len(packet):
                return False
            value = int.from_bytes(packet[place : place + size])
            if code == 0xB1:
                x = (value & 0xF) * 4
            else:
                a = value
        elif code == 0x54:
            a &= k
        elif code == 0x15:
            at += yes if a == k else no
        else:
            assert code == 0x06
            return k != 0


def tcp(flags: int, seq: int = 0) -> bytes:
    return struct.pack(">HHIIBBHHH", 443, 5555, seq, 1, 0x50, flags, 0, 0, 0)


def ipv4(protocol: int, body: bytes, options: bytes = b"") -> bytes:
    head = struct.pack(
        ">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(body), 0, 0, 64, protocol, 0
    )
    address = ipaddress.ip_address("198.18.0.1").packed
    return head + address * 2 + options + body


def ipv6(protocol: int, body: bytes) -> bytes:
    address = ipaddress.ip_address("2001:db8::1").packed
    return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + address * 2 + body


@pytest.mark.parametrize(
    ("flags", "seq", "wanted"),
    [
        (RST | ACK, 0, True),  # nobody listens
        (RST | ACK, 77, False),  # an open connection that is reset
        (RST, 0, False),
        (SYN, 0, False),
        (SYN | ACK, 0, False),
        (ACK, 0, False),
        (RST | ACK | 0x08, 0, True),  # PSH is none of the flags that are looked at
    ],
)
def test_only_the_answer_to_a_refused_connection_passes(flags: int, seq: int, wanted: bool) -> None:
    assert passes(IPV4, ipv4(6, tcp(flags, seq))) is wanted
    assert passes(IPV4, ipv4(6, tcp(flags, seq), b"\1" * 8)) is wanted
    assert passes(IPV6, ipv6(6, tcp(flags, seq))) is wanted


def test_of_icmp_only_what_is_unreachable_passes() -> None:
    assert passes(IPV4, ipv4(1, b"\x03\x03" + bytes(30)))
    assert not passes(IPV4, ipv4(1, b"\x08\x00" + bytes(30)))
    assert passes(IPV6, ipv6(58, b"\x01\x04" + bytes(30)))
    assert not passes(IPV6, ipv6(58, b"\x80\x00" + bytes(30)))
    assert not passes(IPV4, ipv4(17, bytes(30)))
    assert not passes(IPV6, ipv6(17, bytes(30)))


def test_a_packet_that_is_cut_short_is_dropped() -> None:
    assert not passes(IPV4, ipv4(6, tcp(RST | ACK))[:25])
    assert not passes(IPV6, b"\x60")
