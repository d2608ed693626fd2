"""An engine that is away is looked for soon, then less often, and not for ever."""

from __future__ import annotations

from itertools import pairwise

import pytest

from faultwire.campaign.reconnect import FIRST_S, MOST_S, Reconnect


def tries(limit_s: float) -> list[float]:
    """The moments of all tries, on a clock that moves only by what is waited."""
    away, now, found = Reconnect(100.0, limit_s), 100.0, list[float]()
    while not away.over(now):
        pause = away.due(now)
        if pause:
            now += pause
        else:
            found.append(now)
    return found


def test_the_first_try_is_at_once_and_the_pauses_double_up_to_a_bound() -> None:
    found = tries(60.0)
    assert found[0] == 100.0
    pauses = [after - before for before, after in pairwise(found)]
    assert pauses[:5] == pytest.approx([FIRST_S, 0.2, 0.4, 0.8, 1.6])
    assert pauses[5:] == pytest.approx([MOST_S] * (len(pauses) - 5))


def test_it_ends_at_its_limit() -> None:
    away = Reconnect(100.0, 60.0)
    assert (away.over(159.9), away.over(160.0)) == (False, True)
    assert max(tries(60.0)) < 160.0
    assert tries(0.0) == []


def test_one_that_comes_back_is_found_within_the_longest_pause() -> None:
    found = tries(120.0)
    for back in (100.05, 101.0, 117.3, 200.0):
        assert min(moment for moment in found if moment >= back) - back <= MOST_S
