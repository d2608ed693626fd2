"""Rates, ASR@k and claims are of the confirmations, with intervals that hold all at once."""

from __future__ import annotations

from itertools import combinations

import pytest

from faultwire.attacker.confirm import NOISE, confirmed, fewest
from faultwire.attacker.grid import Cell
from faultwire.attacker.search import Candidate
from faultwire.contract.statistics import rate

CELL = Cell("direct", "result", "end", "plain")


def candidate(obeyed, total=10, searched=(2, 2)):
    return Candidate(CELL, 0, searched, obeyed, total)


def test_a_find_is_claimed_only_above_the_noise():
    claims = [confirmed([candidate(obeyed)])[0].claimed for obeyed in range(11)]
    assert claims == [False] * 3 + [True] * 8
    assert confirmed([candidate(3)])[0].low > NOISE
    assert not confirmed([candidate(0, 0)])[0].claimed


def test_several_candidates_have_wider_intervals():
    alone, among = confirmed([candidate(5)])[0], confirmed([candidate(5)] * 3)[0]
    assert among.low < alone.low
    assert among.high > alone.high
    assert among.confidence == pytest.approx(1 - 0.05 / 3)
    exact = rate(5, 10, "clopper_pearson", 1 - 0.05 / 3)
    assert (among.low, among.high) == (exact.low, exact.high)


def test_what_the_search_counted_changes_no_figure():
    assert confirmed([candidate(4, searched=(2, 5))])[0].low == confirmed([candidate(4)])[0].low


@pytest.mark.parametrize("obeyed", [0, 1, 4, 10])
def test_asr_at_k_is_the_share_of_all_choices_of_k_runs_with_a_success(obeyed):
    runs = [at < obeyed for at in range(10)]
    for one in confirmed([candidate(obeyed)])[0].at_k:
        chosen = list(combinations(runs, one.k))
        assert one.value == pytest.approx(sum(any(some) for some in chosen) / len(chosen))
        assert one.low <= one.value <= one.high


def test_k_is_at_most_half_of_the_runs():
    assert [one.k for one in confirmed([candidate(2, 7)])[0].at_k] == [1, 3]


def test_fewest_is_the_least_number_of_repeats_that_can_be_claimed():
    for candidates in (1, 3, 20):
        total = fewest(candidates)
        enough = [candidate(total, total)] * candidates
        assert all(one.claimed for one in confirmed(enough))
        less = [candidate(total - 1, total - 1)] * candidates
        assert not any(one.claimed for one in confirmed(less))
