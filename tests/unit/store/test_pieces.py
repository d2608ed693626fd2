"""A tape's file is cut where what changes borders on what does not."""

from __future__ import annotations

import random

import pytest

from faultwire.store.pieces import BLOCK, PAGE, WINDOW, cut

ROWS, LONG = b"\x0d", b"\x00"
INDEX, UPPER_INDEX, UPPER = b"\x0a", b"\x02", b"\x05"


def window(*changing: int, first: bytes = INDEX, pages: int = WINDOW // PAGE) -> bytes:
    """Full pages; those with these numbers are of an index."""
    kinds = [first if number in changing else (ROWS, LONG)[number % 2] for number in range(pages)]
    return b"".join(kind + bytes([number]) * (PAGE - 1) for number, kind in enumerate(kinds))


@pytest.mark.parametrize("seed", range(20))
def test_the_pieces_are_the_window(seed: int) -> None:
    rng = random.Random(seed)
    data = window(*rng.sample(range(128), rng.randrange(20)), pages=rng.randrange(1, 129))[
        : rng.randrange(1, 1 << 20)
    ]
    assert b"".join(piece.data for piece in cut(data)) == data


@pytest.mark.parametrize("kind", [INDEX, UPPER_INDEX, UPPER, b"SQLite format 3\0"[:1]])
def test_a_page_that_changes_spoils_its_block_alone(kind: bytes) -> None:
    found = list(cut(window(21, first=kind)))
    assert [(len(piece.data) // BLOCK, piece.settled) for piece in found] == [
        (2, True),
        (1, False),
        (13, True),
    ]
    other = bytearray(window(21, first=kind))
    other[21 * PAGE + 100] ^= 1
    same = [one == two for one, two in zip(found, cut(bytes(other)), strict=True)]
    assert same == [True, False, True]


def test_without_such_a_page_it_is_one_piece() -> None:
    assert [piece.settled for piece in cut(window())] == [True]
    assert list(cut(b"")) == []
