"""Which TLS client says hello, as far as its first message tells: the same for every connection that one
client opens, however often, and to whatever server. Layout: RFC 8446 §4.1.2; GREASE: RFC 8701.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise

_HANDSHAKE, _CLIENT_HELLO = 22, 1
_FLEETING = frozenset({0, 21, 35, 41, 42, 44, 45, 65037})
"""Extensions that one client sends in one connection and not in the next: the server's name, padding, tickets
and what goes with them, early data, a cookie, an encrypted hello."""
_LISTS = frozenset({10, 13, 43})
"""Lists of 16-bit numbers: groups, signatures, versions. Clients put GREASE into them."""
_TEXTS = frozenset({11, 16})
"""Point formats, and what is spoken inside (ALPN)."""


def fingerprint(data: bytes) -> str:
    """16 hexadecimal digits for what a ClientHello in TLS records offers; empty for what is none, or no whole
    one. The order of extensions counts for nothing, since browsers shuffle them."""
    try:
        return _fingerprint(_message(data))
    except (IndexError, ValueError):
        return ""


def _message(data: bytes) -> bytes:
    """The message without its head. Raises ValueError where it is not there."""
    message = bytearray()
    at = 0
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4]):
        length = int.from_bytes(data[at + 3 : at + 5])
        if data[at] != _HANDSHAKE or not length or len(data) < at + 5 + length:
            raise ValueError("no whole handshake message")
        message += data[at + 5 : at + 5 + length]
        at += 5 + length
    if message[0] != _CLIENT_HELLO:
        raise ValueError("no ClientHello")
    return bytes(message[4 : 4 + int.from_bytes(message[1:4])])


def _fingerprint(hello: bytes) -> str:
    version, rest = hello[:2], hello[34:]
    _, rest = _taken(rest, 1)  # the session's id
    suites, rest = _taken(rest, 2)
    _, rest = _taken(rest, 1)  # compression, which nobody offers any more
    extensions = sorted(_extensions(_taken(rest, 2)[0])) if rest else []
    offered = (version, _numbers(suites), extensions)
    return hashlib.sha256(repr(offered).encode()).hexdigest()[:16]


def _extensions(data: bytes) -> list[tuple[int, object]]:
    found: list[tuple[int, object]] = []
    while data:
        kind = int.from_bytes(data[:2])
        body, data = _taken(data[2:], 2)
        if kind in _FLEETING or _is_grease(kind):
            continue
        size = 1 if kind == 43 else 2
        found.append(
            (kind, repr(_numbers(body[size:]) if kind in _LISTS else body if kind in _TEXTS else ""))
        )
    return found


def _numbers(data: bytes) -> list[int]:
    numbers = [int.from_bytes(data[a:b]) for a, b in pairwise(range(0, len(data) + 1, 2))]
    return [one for one in numbers if not _is_grease(one)]


def _is_grease(number: int) -> bool:
    return number & 0x0F0F == 0x0A0A and number >> 8 == number & 0xFF


def _taken(data: bytes, size: int) -> tuple[bytes, bytes]:
    """What stands behind a length of so many bytes, and the rest. Raises ValueError where it is cut short."""
    length = int.from_bytes(data[:size])
    if len(data) < size + length:
        raise ValueError("a ClientHello is cut short")
    return data[size : size + length], data[size + length :]
