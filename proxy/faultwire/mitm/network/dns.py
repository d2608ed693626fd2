"""Answers for every name: an address that stands for it. Pure: a query in, an answer out.

In a namespace where every address is ours, a name gets the next address of a range that is nobody's (IPv4:
198.18.0.0/15, RFC 2544, of benchmarks; IPv6: a prefix of RFC 4193). So the name is known when something
connects, whatever it speaks. Whether there is such a name upstream is asked when the proxy connects to it.
Messages: RFC 1035 §4.
"""

from __future__ import annotations

import ipaddress
import struct

IPV4_RANGE = ipaddress.ip_network("198.18.0.0/15")
IPV6_RANGE = ipaddress.ip_network("fd66:6177:6972:6500::/64")
MOST_NAMES = IPV4_RANGE.num_addresses - 2
A, PTR, AAAA, IN = 1, 12, 28, 1
TTL_S = 60
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP = 0, 1, 2, 3, 4
_HEAD = struct.Struct(">HHHHHH")
_TAIL = struct.Struct(">HH")
_RECORD = struct.Struct(">HHHIH")
_QUESTION_NAME = 0xC00C
_SUFFIXES = (".in-addr.arpa", ".ip6.arpa")


class Names:
    """Names and the addresses that stand for them, each given once."""

    def __init__(self, *, ipv6: bool = True) -> None:
        self._ipv6 = ipv6
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def addresses(self, name: str) -> tuple[str, str | None] | None:
        """The IPv4 and the IPv6 address of a name (lower case); None where the range is used up."""
        number = self._numbers.get(name)
        if number is None:
            if len(self._names) >= MOST_NAMES:
                return None
            number = self._numbers[name] = len(self._names) + 1
            self._names.append(name)
        return str(IPV4_RANGE[number]), str(IPV6_RANGE[number]) if self._ipv6 else None

    def name(self, address: str) -> str | None:
        """The name that an address stands for."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        for network in (IPV4_RANGE, IPV6_RANGE):
            if ip.version == network.version and ip in network:
                number = int(ip) - int(network.network_address)
                return self._names[number - 1] if 1 <= number <= len(self._names) else None
        return None


def respond(query: bytes, names: Names) -> bytes | None:
    """The answer to a query; None for what is none, so that nobody is answered to an answer."""
    if len(query) < _HEAD.size:
        return None
    ident, flags, questions, *_ = _HEAD.unpack_from(query)
    if flags & 0x8000:
        return None
    if flags & 0x7800:
        return _answer(ident, flags, NOTIMP)
    found = _question(query) if questions == 1 else None
    if found is None:
        return _answer(ident, flags, FORMERR)
    name, end = found
    kind, group = _TAIL.unpack_from(query, end - _TAIL.size)
    code, record = _resolve(name, kind, names) if group == IN and name else (NOERROR, None)
    return _answer(ident, flags, code, query[_HEAD.size : end], record)


def _resolve(name: str, kind: int, names: Names) -> tuple[int, tuple[int, bytes] | None]:
    """The code of the answer, and the record in it."""
    if name.endswith(_SUFFIXES):
        known = _reversed(name, names)
        if known is None:
            return NXDOMAIN, None
        return NOERROR, (PTR, _encoded(known)) if kind == PTR else None
    given = names.addresses(name)
    if given is None:
        return SERVFAIL, None
    address = {A: given[0], AAAA: given[1]}.get(kind)
    return NOERROR, None if address is None else (kind, ipaddress.ip_address(address).packed)


def _answer(
    ident: int, flags: int, code: int, question: bytes = b"", record: tuple[int, bytes] | None = None
) -> bytes:
    head = _HEAD.pack(ident, 0x8080 | (flags & 0x0100) | code, bool(question), record is not None, 0, 0)
    if record is None:
        return head + question
    kind, data = record
    return head + question + _RECORD.pack(_QUESTION_NAME, kind, IN, TTL_S, len(data)) + data


def _question(query: bytes) -> tuple[str, int] | None:
    """The name of the first question (lower case, without its last dot), and where the question ends."""
    labels, at = [], _HEAD.size
    while at < len(query) and (size := query[at]):
        label = query[at + 1 : at + 1 + size]
        if size > 63 or len(label) < size:
            return None
        labels.append(label)
        at += 1 + size
    end = at + 1 + _TAIL.size
    name = b".".join(labels)
    if end > len(query) or len(name) > 253 or not _plain(name):
        return None
    return name.decode("ascii").lower(), end


def _plain(name: bytes) -> bool:
    """Printable ASCII without blanks: all that a host's name can be (RFC 1123 §2.1), and more."""
    return all(0x21 <= byte <= 0x7E for byte in name)


def _reversed(name: str, names: Names) -> str | None:
    labels = name.split(".")
    if name.endswith(_SUFFIXES[0]) and len(labels) == 6:
        text = ".".join(reversed(labels[:4]))
    elif name.endswith(_SUFFIXES[1]) and len(labels) == 34:
        digits = "".join(reversed(labels[:32]))
        text = ":".join(digits[at : at + 4] for at in range(0, 32, 4))
    else:
        return None
    try:
        return names.name(text)
    except ValueError:
        return None


def _encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
