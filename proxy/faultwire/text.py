"""Text that came from somewhere else, made harmless before anyone sees it."""

from __future__ import annotations

_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5")
"""Characters that count as printable and show nothing: they can hide text from a reader."""


def safe(text: str, *, lines: bool = False) -> str:
    """`text` with everything escaped that could steer a terminal or deceive a reader.

    That is C0, C1, DEL, bidirectional controls, zero-width and tag characters, blanks that are not
    a space, variation selectors other than that of emoji, lone surrogates. `lines` lets line ends and
    tabs through. Escaping for HTML is somebody else's work.
    """
    if text.isprintable() and not any(map(_hides, text)):
        return text
    return "".join(c if _shows(c) or (lines and c in "\n\t") else _escape(c) for c in text)


def _hides(c: str) -> bool:
    return c in _INVISIBLE or "\ufe00" <= c <= "\ufe0e" or "\U000e0100" <= c <= "\U000e01ef"


def _shows(c: str) -> bool:
    return c.isprintable() and not _hides(c)


def _escape(c: str) -> str:
    point = ord(c)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def unit(count: int, many: str) -> str:
    """A unit as it stands in data, or of one: `cell`, `invocation with faults`."""
    first, blank, rest = many.partition(" ")
    return f"{first.removesuffix('s')}{blank}{rest}" if count == 1 else many


def counted(count: int, one: str, many: str = "") -> str:
    """`1 run`, `2 runs`: a count with its noun, whose plural is `many` where it does not end in `s`."""
    return f"{count} {one if count == 1 else many or one + 's'}"
