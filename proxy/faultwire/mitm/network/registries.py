"""Special-purpose addresses: what the registries of IANA say, and which IPv4 address an IPv6 one stands for.

`special_purpose.py` is the generated table; the standard library's own differs from one Python to the next.
"""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

from faultwire.mitm.network.special_purpose import SPECIAL

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_TABLE = tuple(
    (ipaddress.ip_network(network), word)
    for network, word in sorted(SPECIAL, key=lambda row: -int(row[0].partition("/")[2]))
)
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
_TEREDO = ipaddress.IPv6Network("2001::/32")
_LOW = 0xFFFFFFFF


def special(ip: Address) -> str | None:
    """What an address is for, in a word, where it is not a public one; the longest network counts."""
    return next((word or None for network, word in _TABLE if ip in network), None)


def embedded(ip: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 one leads to: mapped and compatible (RFC 4291 §2.5.5), NAT64 (RFC 6052,
    RFC 8215), 6to4 (RFC 3056), and both ends of Teredo (RFC 4380 §4)."""
    if isinstance(ip, ipaddress.IPv4Address):
        return ()
    value = int(ip)
    found: tuple[int, ...] = ()
    if ip in _COMPATIBLE and value > 1:
        found = (value,)
    elif ip in _MAPPED or ip in _NAT64 or ip in _LOCAL_NAT64:
        found = (value & _LOW,)
    elif ip in _SIX_TO_FOUR:
        found = (value >> 80 & _LOW,)
    elif ip in _TEREDO:
        found = (value >> 64 & _LOW, ~value & _LOW)
    return tuple(ipaddress.IPv4Address(each) for each in found)
