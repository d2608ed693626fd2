from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.unit.blame.test_pieces import answered, apart

from faultwire.blame.inside import ONLY, Inside
from faultwire.dice import unit


def pieces(count: int) -> object:
    texts = [json.dumps({f"f{at}": value for at in range(count)}).encode() for value in (1, 2)]
    return apart(answered(texts[0]), answered(texts[1]))


def searched(
    count: int, fails: Callable[[frozenset[int]], float], verdict: str = "cause"
) -> tuple[Inside, int]:
    made = Inside(0, pieces(count), verdict)  # type: ignore[arg-type]
    runs = 0
    while (held := made.candidate()) is not None:
        runs += 1
        assert runs < 3_000, "it does not end"
        made.record(unit(5, "test", "run", "", runs) < fails(held))
    return made, runs


def test_one_field_among_many_is_found_in_few_runs() -> None:
    made, runs = searched(300, lambda held: 0.95 if 217 in held else 0.02)
    assert [(one.group, one.finding.verdict) for one in made.found] == [((217,), "cause")]
    assert made.note == ""
    assert runs < 1_000, "not a run for each field and more"


def test_two_fields_that_are_needed_together_in_different_groups() -> None:
    made, _ = searched(40, lambda held: 0.95 if {3, 31} <= held else 0.02)
    assert sorted(one.group for one in made.found) == [(3,), (31,)]
    assert {one.finding.verdict for one in made.found} == {"needed"}


def test_either_of_two_fields_is_enough() -> None:
    made, _ = searched(20, lambda held: 0.95 if held & {3, 17} else 0.02)
    assert sorted(one.group for one in made.found) == [(3,), (17,)]
    assert {one.finding.verdict for one in made.found} == {"enough"}


def test_a_single_place_takes_no_run() -> None:
    made, runs = searched(1, lambda held: 1.0)
    assert (runs, made.found, made.note) == (0, [], ONLY)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_an_answer_that_does_not_fail_from_the_tape_is_not_blamed_in_parts(rate: float) -> None:
    """The negative control: nothing in it is named where the answer as a whole makes no difference."""
    made, _ = searched(6, lambda held: rate)
    assert made.found == []
    assert "no difference to take apart" in made.note


def test_where_every_field_is_needed_no_group_is_lost() -> None:
    made, _ = searched(5, lambda held: 0.95 if len(held) == 5 else 0.02)
    assert sorted(one.group for one in made.found) == [(0,), (1,), (2,), (3,), (4,)]


def test_the_rest_of_the_run_is_calm_where_the_part_was_not_needed() -> None:
    assert not Inside(0, pieces(3), "enough").rest_fails  # type: ignore[arg-type]
    assert Inside(0, pieces(3), "needed").rest_fails  # type: ignore[arg-type]
