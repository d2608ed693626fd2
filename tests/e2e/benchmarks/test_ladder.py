"""Victims that obey with a known chance: the rate that is printed, and its interval, live."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import get_args

import pytest
from tests.bench.ladder import LONGER, by_dice, exact, held, live

from faultwire.contract.statistics import Method, rate

LOWEST, HIGHEST = 0.93, 0.97


@pytest.mark.parametrize(("chance", "obeyed"), [(0.0, 0), (1.0, 12)])
def test_a_victim_that_obeys_all_or_nothing_has_that_rate_and_an_interval_with_it(
    chance: float, obeyed: int, here: Path
) -> None:
    found = live(chance, 2)
    assert [(one.passed, one.total) for one, _ in found] == [(obeyed, 12)] * 2
    intervals = [one for one, _ in found]
    assert held(intervals, chance) == 1.0
    assert held(intervals, 0.5) == 0.0, "and not one that is false"


def test_the_interval_that_is_printed_is_the_one_of_the_asked_coverage(here: Path) -> None:
    """Clopper-Pearson's holds more often than asked for; Jeffreys' as often, at the sizes of a small run."""
    (one, outcomes), *_ = live(0.5, 1)
    assert by_dice(0.5, 1) == [one] != by_dice(0.0, 1)
    assert one == rate(sum(bool(each.obeyed) for each in outcomes), 12)
    assert all(LOWEST <= exact(one.method, 12, chance) <= HIGHEST for chance in (0.25, 0.5, 0.75))
    assert exact("clopper_pearson", 12, 0.25) > HIGHEST


def test_at_one_half_each_method_has_the_same_coverage_and_200_repeats_scatter_around_it() -> None:
    """The figures of the page: with twelve pairs all hold .5 for three to nine successes."""
    by = {method: exact(method, 12, 0.5) for method in get_args(Method)}
    assert {round(one, 4) for one in by.values()} == {0.9614}
    assert round(exact("wilson", 12, 0.25), 3) == 0.914, "the control: elsewhere they differ"
    one = by["jeffreys"]

    def chance(count: int) -> float:
        return comb(200, count) * one**count * (1 - one) ** (200 - count)

    assert round(sum(map(chance, range(186, 195))), 2) == 0.78, "93 to 97 %"
    assert round(sum(map(chance, range(196, 201))), 2) == 0.11, "98 % and above"


@pytest.mark.nightly
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("chance", [0.25, 0.5, 0.75])
def test_200_repeats_are_what_the_dice_say_and_those_hold_the_true_rate_as_often_as_asked_for(
    chance: float, here: Path
) -> None:
    """Of 200 repeats 93 to 97 % are within one and a half standard deviations: more of them tell."""
    longer = by_dice(chance, LONGER)
    assert [one for one, _ in live(chance, 200)] == longer[:200]
    assert LOWEST <= held(longer, chance) <= HIGHEST
