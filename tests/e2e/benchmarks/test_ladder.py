"""Victims that obey with a known chance: the rate that is printed, and its interval, live."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench.ladder import LONGER, by_dice, exact, held, live

from faultwire.contract.statistics import rate

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
