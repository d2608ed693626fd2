from __future__ import annotations

import pytest

from faultwire.blame.inevitability import band, change_point
from faultwire.blame.rates import Counts


def counts(*failed: int, runs: int = 6) -> list[Counts]:
    return [Counts(one, runs - one) for one in failed]


def test_a_jump_is_found_with_its_plausible_places() -> None:
    found = change_point(counts(0, 0, 0, 6, 6, 6))
    assert found is not None
    assert (found.step, found.low, found.high) == (3, 3, 3)
    assert found.probability > 0.95


def test_few_runs_leave_more_places() -> None:
    sure, unsure = change_point(counts(0, 0, 0, 6, 6, 6)), change_point(counts(0, 0, 1, 2, 2, 2, runs=2))
    assert sure is not None
    assert unsure is not None
    assert unsure.high - unsure.low > sure.high - sure.low
    assert unsure.low <= 3 <= unsure.high


@pytest.mark.parametrize("flat", [(0, 0, 0, 0), (6, 6, 6, 6), (3, 2, 3, 3)])
def test_no_change_where_there_is_none(flat: tuple[int, ...]) -> None:
    assert change_point(counts(*flat)) is None


def test_nothing_to_compare() -> None:
    assert change_point(counts(3)) is None
    assert change_point([]) is None


def test_the_band_is_wider_than_single_intervals_and_holds_the_rates() -> None:
    few, many = band(counts(0, 6)), band(counts(0, 6, 6, 6, 6, 6, 6, 6))
    assert many[1].low < few[1].low
    assert all(point.low <= (point.rate or 0) <= point.high for point in many)
    assert band([Counts()])[0].rate is None
    assert (band([Counts()])[0].low, band([Counts()])[0].high) == (0.0, 1.0)
