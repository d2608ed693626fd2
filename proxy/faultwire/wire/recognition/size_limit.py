"""How much work a request's body is to read, found out for a fraction of that work.

Everything that is decided on a request is decided on an event loop, and a parser holds it up. What a
parser takes its time for are values far more than bytes, so both are weighed. What is too heavy passes
unread: known by its head alone, without a view, and by a part of its bytes when calls are compared.
"""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern

MOST = 1 << 15
"""The weight up to which a body is read: so many JSON values, or 8 MiB of long texts."""
BYTES = 256
"""Bytes that weigh as much as a value."""
UNREAD = (MOST + 1) * BYTES
"""Bytes that are too heavy whatever they are."""
WHY = f"the request is heavier than {MOST * BYTES >> 20} MiB of text or {MOST} JSON values: it passed unread"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_MARKS = (b",", b"[", b"{", b":")
_LONG = 64
_LOOKED_THROUGH = 4 << 20
"""Bytes in which marks are distinguished from those inside texts: a million tokens of a program's source."""


def is_heavy(body: bytes | None) -> bool:
    """Would reading this body hold an event loop up for too long?"""
    if body is None or len(body) <= MOST:
        return False
    allowed = MOST - len(body) // BYTES
    if allowed < 0:
        return True
    last, heavy = _LAST[0]
    if last is not body:  # several ask about the same body, one after the other
        heavy = _weigh(body, allowed)
        _LAST[0] = (body, heavy)
    return heavy


_LAST: list[tuple[bytes, bool]] = [(b"", False)]


def _weigh(body: bytes, allowed: int) -> bool:
    marks = _marks(body)
    if marks <= allowed:
        return False
    return len(body) > _LOOKED_THROUGH or marks - _inside(body, allowed) > allowed


def _marks(text: bytes) -> int:
    """About how many values there are, where it holds no texts; more where it does."""
    return sum(map(text.count, _MARKS))


def _inside(body: bytes, most: int) -> int:
    """How many marks stand in long texts; nothing, where there are more texts than anybody will read."""
    found = count = 0
    start = body.find(b'"')
    while start >= 0 and count <= most:
        text = _STRING.match(body, start)
        if text is None:  # it never ends, and no parser will read it
            return 0
        end = text.end()
        if end - start > _LONG:
            found += sum(body.count(mark, start, end) for mark in _MARKS)
        start, count = body.find(b'"', end), count + 1
    return found if start < 0 else 0
