"""Covering arrays: complete, small, and checked by a count of their own."""

from __future__ import annotations

from itertools import combinations

import pytest

from faultwire.explore.covering import covering_array, uncovered

MATRIX = (12, 4, 3, 3, 2, 4)


def test_every_pair_of_a_matrix_in_about_as_few_rows_as_possible() -> None:
    rows = covering_array(MATRIX)
    factors = list(combinations(range(len(MATRIX)), 2))
    pairs = {(one, row[one], other, row[other]) for row in rows for one, other in factors}
    assert len(pairs) == sum(MATRIX[one] * MATRIX[other] for one, other in factors)
    assert uncovered(rows, MATRIX, 2) == set()
    assert 48 <= len(rows) <= 52


@pytest.mark.parametrize("levels", [(2, 2, 2), (3, 3, 2, 2), (4, 3, 3)])
def test_every_triple(levels: tuple[int, ...]) -> None:
    rows = covering_array(levels, 3)
    assert uncovered(rows, levels, 3) == set()
    assert len(set(rows)) == len(rows)


def test_what_is_missing_is_seen() -> None:
    rows = covering_array((3, 3, 2))
    assert uncovered(rows[1:], (3, 3, 2), 2)
    assert covering_array((3, 3, 2), seed=1) == covering_array((3, 3, 2), seed=1)


@pytest.mark.parametrize("levels", [(2,), (), (2, 0)])
def test_too_few_factors_or_levels(levels: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected at least 2"):
        covering_array(levels)


@pytest.mark.nightly
def test_every_triple_of_the_matrix() -> None:
    rows = covering_array(MATRIX, 3)
    assert uncovered(rows, MATRIX, 3) == set()
    assert 192 <= len(rows) <= 214
