"""Where a namespace's processes wanted to go and were refused, by the packets that refused them. Pure.

A packet socket in the namespace passes only these (`faultwire.capture.netns.refusals`): TCP answers with RST
and ACK to a SYN, and ICMP messages that a port is unreachable, which quote the packet that they answer
(RFC 792; RFC 4443 §3.1). They begin with the IP header.
"""

from __future__ import annotations

import ipaddress
from typing import Literal, NamedTuple

TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
IPV6_HEAD = 40
_PORT_UNREACHABLE = {ICMP: (3, 3), ICMPV6: (1, 4)}
"""Type and code."""


class RefusedPacket(NamedTuple):
    """What was refused."""

    transport: Literal["tcp", "udp"]
    address: str
    port: int


def read(packet: bytes) -> RefusedPacket | None:
    """What a packet says was refused; None where it says nothing of the kind."""
    found = _split(packet)
    if found is None:
        return None
    protocol, source, _, rest = found
    if protocol == TCP and len(rest) >= 14:
        return RefusedPacket("tcp", source, int.from_bytes(rest[:2]))
    if protocol in _PORT_UNREACHABLE and tuple(rest[:2]) == _PORT_UNREACHABLE[protocol]:
        quoted = _split(rest[8:])
        if quoted is not None and quoted[0] == UDP and len(quoted[3]) >= 4:
            return RefusedPacket("udp", quoted[2], int.from_bytes(quoted[3][2:4]))
    return None


def _split(packet: bytes) -> tuple[int, str, str, bytes] | None:
    """Protocol, source, destination, and what is behind the IP header."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        length = (packet[0] & 0xF) * 4
        source, target = (str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16))
        return packet[9], source, target, packet[length:]
    if version == 6 and len(packet) >= IPV6_HEAD:
        source, target = (str(ipaddress.IPv6Address(packet[at : at + 16])) for at in (8, 24))
        return packet[6], source, target, packet[IPV6_HEAD:]
    return None
