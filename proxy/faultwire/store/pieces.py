"""Where a tape's file is cut into pieces, so that most of them are there before the file is complete.

SQLite only adds to a tape, but not only at the end of its file: pages of indexes, the upper pages of tables
and page 1 change for as long as anything is added. Pages that hold rows, or the rest of a long body, do not
once they are full. Each megabyte of the file is therefore cut on its own, where blocks of 64 KB with a page
that may change border on blocks without one. The cut depends on the file's bytes alone: whoever cuts it, at
whatever time, names the same pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 8192
"""Bytes of a tape's page. Of a file with other pages the cut is as good as any."""
BLOCK = 8 * PAGE
WINDOW = 16 * BLOCK
"""Bytes that are cut on their own, and the most that a piece has."""
CHANGING = frozenset(b"\x02\x05\x0aS")
"""First bytes of pages that change: an index's two kinds, a table's upper pages, and page 1 (`SQLite …`).
Source: SQLite's file format, section 1.6."""


class Piece(NamedTuple):
    """A part of a window, and whether it stays as it is while the tape grows."""

    data: bytes
    settled: bool


def cut(window: bytes) -> Iterator[Piece]:
    """The pieces of a window, in order."""
    blocks = [window[at : at + BLOCK] for at in range(0, len(window), BLOCK)]
    start = 0
    for number in range(1, len(blocks) + 1):
        if number == len(blocks) or _settled(blocks[number]) != _settled(blocks[start]):
            yield Piece(b"".join(blocks[start:number]), _settled(blocks[start]))
            start = number


def _settled(block: bytes) -> bool:
    return not any(block[at] in CHANGING for at in range(0, len(block), PAGE))
