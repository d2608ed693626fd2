from __future__ import annotations

import pytest

from faultwire.blame.rates import Counts, estimate, likelihood_interval, merged

A, B = frozenset({0}), frozenset({1})


def test_outcomes_are_counted_by_kind() -> None:
    counts = Counts()
    for failed in (True, True, False, None):
        counts.add(failed)
    assert (counts.failed, counts.passed, counts.undecided, counts.runs, counts.tried) == (2, 1, 1, 3, 4)
    assert counts.rate == pytest.approx(2 / 3)
    assert Counts().rate == 0.5


def test_the_interval_of_a_rate() -> None:
    assert likelihood_interval(0, 0) == (0.0, 1.0)
    low, high = likelihood_interval(20, 20)
    assert (low, high) == (pytest.approx(0.9085, abs=1e-3), 1.0)  # 1.92 = 20 ln(1 / low)
    assert likelihood_interval(0, 20) == (pytest.approx(0.0), pytest.approx(1 - low))
    narrow, wide = likelihood_interval(50, 100), likelihood_interval(5, 10)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_a_difference_of_rates_covers_what_it_says() -> None:
    """Of independent samples of 30, as often as 95 % of the time, two standard errors given."""
    from faultwire.dice import unit

    covered = 0
    for case in range(400):
        counts = {A: Counts(), B: Counts()}
        for run in range(30):
            counts[A].add(unit(case, "test", "a", "", run) < 0.8)
            counts[B].add(unit(case, "test", "b", "", run) < 0.3)
        covered += estimate({A: 1.0, B: -1.0}, counts).covers(0.5)
    assert 0.93 <= covered / 400 <= 0.975


def test_what_a_sum_cannot_reach_is_cut_off() -> None:
    found = estimate({A: 1.0, B: -1.0}, {A: Counts(6, 0), B: Counts(0, 6)})
    assert (found.value, found.high) == (1.0, 1.0)
    assert not found.covers(0.0)
    nothing = estimate({A: 1.0, B: -1.0}, {})
    assert (nothing.low, nothing.high) == (-1.0, 1.0)


def test_a_coalition_that_stands_in_two_sums_counts_once() -> None:
    assert merged({A: 0.5, B: -0.5}, {A: 0.5}) == {A: 1.0, B: -0.5}
    assert merged({A: 0.5}, {A: -0.5}) == {}
