"""Generated values: ids and instants that no two runs share, recognised by their shape alone."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed pattern
from typing import Any

MINTED = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"(?P<uuid>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})"
    r"|(?P<id>(?:call|toolu|tooluse|fc|func|msg|resp|chatcmpl|run|req|item|lro)[_-][0-9A-Za-z_-]{8,64})"
    r"|(?P<instant>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    r"|(?P<epoch>(?<!\d\.)1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d{1,9})?)"
    r"|(?P<hex>[0-9a-f]{32})"
    r")(?![0-9A-Za-z])"
)
"""A UUID (RFC 9562), an id with the prefix that providers give theirs, an instant with its time of day
(RFC 3339) or in seconds to nanoseconds since 1970, or 128 bits in hex. The digits behind the point of
another number are no instant."""


def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with each minted value replaced by its shape's name, and the values in order."""
    values: list[str] = []

    def shape(found: re.Match[str]) -> str:
        values.append(found[0])
        return f"\x00{found.lastgroup}\x00"

    return MINTED.sub(shape, text), tuple(values)


def pairs(old: Any, new: Any) -> tuple[tuple[str, str], ...] | None:
    """Minted values that differ between two values, in order; None where anything else differs."""
    one, other = _parted(old), _parted(new)
    if one is None or other is None or one[0] != other[0]:
        return None
    return tuple(pair for pair in zip(one[1], other[1], strict=True) if pair[0] != pair[1])


def only_minted(old: Any, new: Any) -> bool:
    """Do two values differ in minted ones only?"""
    return pairs(old, new) is not None


def _parted(value: Any) -> tuple[str, tuple[str, ...]] | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return parted(str(value))
