"""Text that came from somewhere else, made harmless and short before anyone sees it."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories that steer a terminal, reverse or hide text, or are no text at all."""
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5")
"""Letters and marks that show nothing."""


def inert(text: str) -> str:
    """`text` with controls, escapes, bidirectional marks and invisible characters spelled out.

    Line ends and tabs stay. Escaping for HTML is somebody else's work.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) if _hides(char) else char for char in text)


def clip(text: str, limit: int) -> str:
    """The first `limit` characters; says how many are missing."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… [{left:,} more character{'s' * (left != 1)}]"


def line(text: str, limit: int = 200) -> str:
    """One harmless line."""
    return inert(clip(" ".join(text[: limit * 4].split()), limit))


def _hides(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in _HIDDEN or char in _BLANK_LETTERS or "\ufe00" <= char <= "\ufe0e"


def _spelled(char: str) -> str:
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
