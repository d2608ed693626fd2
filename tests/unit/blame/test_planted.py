from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.blame.test_compare import exchange
from tests.unit.blame.test_design import run

from faultwire.blame.design import Design
from faultwire.blame.planted import KINDS, Bars, Found, Plant, PlantedOracle, plants, simple_rules
from faultwire.events import FaultFired, History, Recorded
from faultwire.trials.model import Pin

SURE = Plant("single", frozenset({2}), 1.0, 0.0, 7)


def fired(number: int) -> Recorded:
    line = FaultFired("latency", "latency", "response", "fired", f"call {number} matches", "k", number, 0)
    return replace(exchange(number, f"q{number}", "said"), faults=(line,))


def test_plants_are_the_same_for_the_same_seed_and_within_what_is_said() -> None:
    made = plants(12, 20, 3)
    assert made == plants(12, 20, 3) != plants(12, 20, 4)
    assert [sum(one.kind == kind for one in made) for kind in KINDS] == [20] * 4
    sizes = {"single": 1, "late": 1, "pair": 2, "none": 0}
    assert all(len(one.causes) == sizes[one.kind] for one in made)
    assert all(0.7 <= one.rate <= 1 and 0 <= one.noise <= 0.1 for one in made)
    assert all(max(one.causes) < 4 for one in made if one.kind == "late")
    assert "pair" not in {one.kind for one in plants(1, 2, 3)}


def test_the_oracle_judges_by_what_reached_the_agent() -> None:
    oracle = PlantedOracle(SURE, tuple(Pin("latency", call) for call in (1, 2, 3)))
    for numbers, failed in (((1, 2, 3), True), ((3,), True), ((1, 2), False), ((), False)):
        history = History("exec", tuple(fired(number) for number in numbers))
        assert oracle.judge(history, Path("x"))[0] is failed, numbers
    clean = PlantedOracle(replace(SURE, kind="none", causes=frozenset()), oracle.pins)
    assert clean.judge(History("exec", (fired(3),)), Path("x"))[0] is False


def searched(plant: Plant, rate: Plant | None = None) -> Design:
    design = Design(8)
    run(design, (rate or plant).chance)
    return design


def test_what_is_found_is_counted_and_held_against_the_bars() -> None:
    found = Found("single")
    found.add(SURE, searched(SURE))
    found.add_shrunk(SURE, frozenset({2}), 9)
    assert (found.first, found.exact, found.falsely, found.shrunk) == (1, 1, 0, 1)
    assert all(found.covered)
    assert Bars().missed([found]) == []


def test_a_search_that_blames_another_step_misses_every_bar() -> None:
    """The negative control: the agent fails of another decision than the planted one."""
    wrong = Found("single")
    wrong.add(SURE, searched(SURE, replace(SURE, causes=frozenset({5}))))
    missed = " ".join(Bars(coverage=0.95).missed([wrong]))
    assert "came first in 0 of 1" in missed
    assert "something else was blamed in 1 of 1" in missed
    assert "intervals cover" in missed


def test_a_pair_of_which_one_is_missed() -> None:
    pair = Plant("pair", frozenset({1, 2}), 1.0, 0.0, 7)
    found = Found("pair")
    found.add(pair, searched(pair, SURE))
    assert Bars(coverage=0.0).missed([found]) == ["pair: both were found in 0 of 1"]
    assert Bars().missed([Found(kind) for kind in KINDS]) == []


@pytest.mark.parametrize("kind", ["none"])
def test_nothing_is_blamed_where_nothing_is_planted(kind: str) -> None:
    found, clean = Found("none"), Plant("none", frozenset(), 0.9, 0.05, 7)
    found.add(clean, searched(clean))
    assert (found.exact, found.falsely) == (1, 0)


def test_what_simple_rules_name() -> None:
    plant = Plant("pair", frozenset({0, 2}), 0.9, 0.0, 1)
    assert simple_rules(plant, [2, 3, 5], 5) == {
        "random": 0.4, "first step": 0.0, "last step": 1.0, "first fault": 1.0,
    }  # fmt: skip
    single = Plant("single", frozenset({1}), 0.9, 0.0, 1)
    assert simple_rules(single, [1, 2], 4) == {
        "random": 0.25, "first step": 0.0, "last step": 0.0, "first fault": 0.0,
    }  # fmt: skip
