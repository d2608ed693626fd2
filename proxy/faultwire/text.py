"""Text that came from somewhere else, made harmless before anyone sees it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO

NARROWEST = 20
"""Columns below which lines are left as they are."""
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


def width_of(stream: IO[str]) -> int | None:
    """The columns of a terminal, or those that `COLUMNS` says; None where nobody has lines of a length, as
    in a file or a pipe."""
    set_by_user = os.environ.get("COLUMNS", "")
    if set_by_user.isascii() and set_by_user.isdigit():
        width = int(set_by_user)
    elif stream.isatty():
        try:
            width = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):  # no descriptor, or one that has no size
            return None
    else:
        return None
    return width if width >= NARROWEST else None


def folded(text: str, width: int | None) -> str:
    """Lines that are longer than so many columns go on below, two columns further in. They are broken at
    blanks only: a word that is longer than a line (a path, a digest) stays whole."""
    if width is None or len(text) <= width:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line, width))


def _pieces(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    from textwrap import wrap

    inset = " " * min(len(line) - len(line.lstrip(" ")) + 2, width // 2)
    pieces = wrap(
        line, width, subsequent_indent=inset, break_long_words=False, break_on_hyphens=False,
        expand_tabs=False, replace_whitespace=False,
    )  # fmt: skip
    return pieces or [""]
