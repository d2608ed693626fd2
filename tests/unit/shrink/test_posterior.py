from __future__ import annotations

from itertools import combinations
from math import prod

import pytest

from faultwire.shrink.posterior import EXPECTED, Posterior, largest_gain


def exact(elements: range, removed: dict[frozenset[int], int], rate: float) -> dict[int, float]:
    """By adding up every set of needed elements."""
    prior = EXPECTED / len(elements)
    weights: dict[frozenset[int], float] = {}
    for count in range(len(elements) + 1):
        for some in map(frozenset, combinations(elements, count)):
            passes = prod(1 if some & group else (1 - rate) ** runs for group, runs in removed.items())
            weights[some] = prior**count * (1 - prior) ** (len(elements) - count) * passes
    total = sum(weights.values())
    return {one: sum(w for some, w in weights.items() if one in some) / total for one in elements}


@pytest.mark.parametrize(
    "removed",
    [
        {},
        {frozenset({0}): 3},
        {frozenset({0, 1}): 4},
        {frozenset({0, 1, 2, 3}): 1, frozenset({4, 5}): 2},
        {frozenset({0, 1, 2}): 2, frozenset({2, 3}): 2, frozenset({5}): 1},
    ],
)
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_near_the_exact_probabilities(removed: dict[frozenset[int], int], rate: float) -> None:
    elements = range(8)
    found = Posterior(elements, removed, rate).probabilities()
    wanted = exact(elements, removed, rate)
    assert found == pytest.approx(wanted, abs=0.05)


def test_runs_that_are_repeated_do_not_make_both_of_a_pair_certain() -> None:
    found = Posterior(range(8), {frozenset({0, 1}): 50}, 0.7).probabilities()
    assert found[0] < 0.7


def test_a_group_with_a_needed_element_says_nothing_of_the_others() -> None:
    found = Posterior(range(8), {frozenset({0, 1}): 5}, 0.7, frozenset({0})).probabilities()
    assert found[0] == 1
    assert found[1] == pytest.approx(EXPECTED / 8)


def test_the_largest_expected_reduction() -> None:
    assert largest_gain([(0, 0.9), (1, 0.01), (2, 0.01), (3, 0.9)]) == (1, 2)
    assert largest_gain([(7, 1.0)]) == (7,)
    assert len(largest_gain([(one, 0.1) for one in range(64)])) in (9, 10)
