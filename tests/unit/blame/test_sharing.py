"""How runs are shared among several failures."""

from __future__ import annotations

import pytest

from faultwire.blame.sharing import Sharing, grouped


def shared(left: int, needs: list[tuple[int, int]]) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """What each failure (its fewest runs, and those that end its search) gets, and each share in order."""
    shares, given = Sharing(left, [fewest for fewest, _ in needs]), []
    while (following := shares.next()) is not None:
        at, runs = following
        wants = needs[at][1] - shares.used.get(at, 0)
        shares.spent(at, min(runs, wants), ended=wants <= runs)
        given.append(following)
        assert len(given) < 50, "it never ends"
    return shares.used, given


def test_failures_with_one_signature_are_one() -> None:
    found = grouped([("a", 1), ("b", 2), ("a", 3)])
    assert found == [[1, 3], [2]]
    assert grouped([]) == []


def test_each_has_an_equal_part_of_what_is_left_over_the_fewest() -> None:
    used, given = shared(60, [(16, 99), (8, 99)])
    assert given == [(0, 16 + 18), (1, 8 + 18)]
    assert used == {0: 34, 1: 26}


def test_what_one_does_not_use_the_others_get() -> None:
    used, given = shared(60, [(16, 18), (16, 40)])
    assert given == [(0, 30), (1, 42)]
    assert used == {0: 18, 1: 40}


def test_a_search_that_its_share_ended_goes_on_after_the_others() -> None:
    used, given = shared(60, [(16, 40), (16, 18)])
    assert [at for at, _ in given] == [0, 1, 0]
    assert used == {0: 40, 1: 18}


@pytest.mark.parametrize(("left", "used"), [(15, {1: 15}), (7, {}), (16, {0: 16}), (24, {0: 16, 1: 8})])
def test_the_worst_comes_first_and_nobody_gets_less_than_decides_anything(
    left: int, used: dict[int, int]
) -> None:
    assert shared(left, [(16, 99), (8, 99)])[0] == used


@pytest.mark.parametrize("left", range(0, 120, 7))
def test_no_more_is_spent_than_there_is(left: int) -> None:
    used, _ = shared(left, [(16, 31), (8, 8), (16, 200), (16, 20)])
    assert sum(used.values()) <= left
    assert all(runs >= 8 for runs in used.values())
    assert left < 80 or sum(used.values()) == left, "one would have taken all of it"


def test_a_search_that_makes_no_run_is_not_asked_again() -> None:
    shares = Sharing(40, [16])
    assert shares.next() == (0, 40)
    shares.spent(0, 0, ended=False)
    assert shares.next() is None
    assert shares.left == 40
