"""How much work a request's body is to read, found out for a fraction of that work.

Everything that is decided on a request is decided on an event loop, and a parser holds it up. What a
parser takes its time for are values far more than bytes, so both are weighed. What is too heavy passes
unread: known by its head alone, without a view, and by a part of its bytes when calls are compared.
"""

from __future__ import annotations

from faultwire import _core

MOST = 1 << 15
"""The weight up to which a body is read: so many JSON values, or 8 MiB of long texts."""
BYTES = 256
"""Bytes that weigh as much as a value."""
UNREAD = (MOST + 1) * BYTES
"""Bytes that are too heavy whatever they are."""
WHY = f"the request is heavier than {MOST * BYTES >> 20} MiB of text or {MOST} JSON values: it passed unread"

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
    marks = _core.json_marks(body)
    if marks <= allowed:
        return False
    # Nothing is taken off where there are more texts than anybody will read, or one that never ends.
    return len(body) > _LOOKED_THROUGH or marks - _core.json_marks_in_texts(body, _LONG, allowed) > allowed
