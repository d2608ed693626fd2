from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from faultwire.blame.rates import Coalition
from faultwire.blame.shapley import Walks, pair_weights, subsets, value_weights
from faultwire.dice import unit

PARTS = (2, 5, 7)
Game = Callable[[Coalition], float]


def value(weights: dict[Coalition, float], game: Game) -> float:
    return sum(weight * game(one) for one, weight in weights.items())


def glove(coalition: Coalition) -> float:
    """Two have a left glove, one the right: known values 1/6, 1/6 and 2/3."""
    return float(7 in coalition and bool(coalition & {2, 5}))


def test_a_game_with_known_values() -> None:
    found = [value(value_weights(one, PARTS), glove) for one in PARTS]
    assert found == pytest.approx([1 / 6, 1 / 6, 2 / 3])


@pytest.mark.parametrize("seed", range(5))
def test_values_add_up_to_what_all_do(seed: int) -> None:
    def game(one: Coalition) -> float:
        return unit(seed, "test", "game", str(sorted(one)), 0)

    total = sum(value(value_weights(one, PARTS), game) for one in PARTS)
    assert total == pytest.approx(game(frozenset(PARTS)) - game(frozenset()))


def test_interactions() -> None:
    def both(one: Coalition) -> float:
        return float({2, 5} <= one)

    def either(one: Coalition) -> float:
        return float(bool(one & {2, 5}))

    found = {pair: value(pair_weights(*pair, PARTS), both) for pair in combinations(PARTS, 2)}
    assert found == {(2, 5): pytest.approx(1), (2, 7): pytest.approx(0), (5, 7): pytest.approx(0)}
    assert value(pair_weights(2, 5, PARTS), either) == pytest.approx(-1)


def test_subsets() -> None:
    assert len(list(subsets(PARTS))) == 8


def test_walks_estimate_the_same_values() -> None:
    walks = Walks((0, 1, 2, 3, 4, 5), count=60)
    while (one := walks.candidate()) is not None:
        walks.record({0, 1} <= one)
    found = walks.values()
    assert found[0].covers(0.5)
    assert found[1].covers(0.5)
    assert found[2].value == 0
    assert sum(one.value for one in found.values()) == pytest.approx(1)


def test_walks_leave_out_what_could_not_be_judged() -> None:
    walks = Walks((0, 1), count=4)
    while (one := walks.candidate()) is not None:
        walks.record(None if one == {0} else bool(one))
    assert all(-1 <= one.low <= one.value <= one.high <= 1 for one in walks.values().values())
    assert Walks((0, 1)).values()[0].covers(-1.0), "nothing is known without a walk"
