"""The files of a log (C2SP tlog-tiles): hashes in tiles of 256, and the entries themselves in bundles. Pure.

Any server of files can serve them, and any client of that format read them. Entries here have 32 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.evidence.signed_note import NoteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 256
ENTRY = 32
"""Bytes of an entry."""
ENTRIES = "entries"


def path(level: int | str, number: int, width: int = WIDTH) -> str:
    """Where a tile or a bundle is; one with fewer than 256 members is partial."""
    digits = f"{number:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    *before, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
    place = "/".join((*(f"x{part}" for part in before), last))
    return f"tile/{level}/{place}" + ("" if width == WIDTH else f".p/{width}")


def bundles(size: int) -> Iterator[tuple[str, str, int]]:
    """Of a log of `size` entries: each bundle's path, the path where it is once it is full, and how many of
    its entries belong to the log."""
    for number in range(-(-size // WIDTH)):
        width = min(WIDTH, size - number * WIDTH)
        yield path(ENTRIES, number, width), path(ENTRIES, number), width


def changed(entries: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """The files that the last of these entries changes, by path."""
    leaves = [_core.leaf_hash(entry) for entry in entries]
    at = (len(entries) - 1) // WIDTH * WIDTH
    bundle = b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries[at:])
    yield path(ENTRIES, at // WIDTH, len(entries) - at), bundle
    level, span = 0, 1
    while span <= len(leaves) and len(leaves) % span == 0:
        count = len(leaves) // span
        first = (count - 1) // WIDTH * WIDTH
        roots = (_core.merkle_root(leaves[n * span : (n + 1) * span]) for n in range(first, count))
        yield path(level, first // WIDTH, count - first), b"".join(roots)
        level, span = level + 1, span * WIDTH


def entries_of(bundle: bytes, count: int) -> list[bytes]:
    """The first `count` entries of a bundle. Raises NoteError where it has fewer, or other ones."""
    step = 2 + ENTRY
    pieces = [bundle[at : at + step] for at in range(0, count * step, step)]
    if any(len(one) != step or one[:2] != ENTRY.to_bytes(2, "big") for one in pieces):
        raise NoteError(f"a bundle does not hold {count} entries of {ENTRY} bytes")
    return [one[2:] for one in pieces]
