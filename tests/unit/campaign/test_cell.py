"""A cell is known by all that decides what it does, and by nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from faultwire.campaign.cell import CellTask, Surroundings, campaign_id
from faultwire.contract.cells import Prompt, Scenario
from faultwire.errors import FaultwireError
from faultwire.mutations._api import Mutant
from faultwire.mutations._request import RequestChange
from faultwire.profile.load import parse
from faultwire.runner.cells import planned
from faultwire.runner.phases import Phase

HERE = Surroundings("1.0", "c" * 64, "a" * 64, "p" * 64)
DOWN = Scenario("down", parse("name: down\nfaults: [{status: {code: 503}}]", "a.yaml"))
PROMPT = Prompt("p1", "second", turns=("first", "second"))
CHANGE = RequestChange(method="PUT", headers=(("x", "1"),), query=(("q", "2"),))
PHASE = Phase(
    "mutation", (DOWN,), (PROMPT,), (), planned((DOWN,), (PROMPT,), phase="mutation"),
    mutants={"p1": Mutant("http", "asked", "second", "as PUT", request=CHANGE)},
)  # fmt: skip
CELL = CellTask.of(PHASE, PHASE.plan[0], 7)


def test_a_cell_comes_back_from_the_wire_as_the_invocation_that_it_was() -> None:
    again = CellTask.from_json(json.loads(json.dumps(CELL.as_json())))
    assert again == replace(CELL, request=again.request, profile=again.profile)
    assert again.invocation.id == PHASE.plan[0].id == "mutation/down/p1/r1"
    assert again.invocation.prompt.asked == ("first", "second")
    assert again.invocation.scenario.profile.entries[0].fault.name == "status"
    assert (again.changed, again.change) == (("first", "asked"), CHANGE)
    assert again.id(HERE) == CELL.id(HERE)


OTHERS: list[dict[str, Any]] = [
    {"phase": "chaos"},
    {"scenario": "other"},
    {"prompt": "p2"},
    {"plain": ("second",)},
    {"changed": ("asked",)},
    {"request": None},
    {"repeat": 2},
    {"seed": 8},
    {"profile": {**CELL.profile, "entries": []}},
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda one: next(iter(one)))
def test_each_part_of_a_cell_makes_another_id(other: dict[str, Any]) -> None:
    assert replace(CELL, **other).id(HERE) != CELL.id(HERE)


@pytest.mark.parametrize("name", ["version", "config", "agent", "profiles"])
def test_the_surroundings_make_another_id_and_are_named_where_they_differ(name: str) -> None:
    other = replace(HERE, **{name: "other"})
    assert CELL.id(other) != CELL.id(HERE)
    word = {"version": "faultwire"}.get(name, name.removesuffix("s"))
    assert word in str(HERE.differs(other))
    assert HERE.differs(replace(HERE)) is None


def test_where_a_profile_was_loaded_from_makes_no_difference() -> None:
    moved = {**CELL.profile, "path": "/elsewhere/a.yaml"}
    assert replace(CELL, profile=moved).id(HERE) == CELL.id(HERE)


def test_a_campaign_is_known_by_its_cells_in_any_order_and_by_its_command() -> None:
    assert campaign_id("run", ["b", "a"]) == campaign_id("run", ["a", "b"])
    assert len({campaign_id("run", ["a"]), campaign_id("ci", ["a"]), campaign_id("run", ["a", "b"])}) == 3


@pytest.mark.parametrize("value", [{}, {"plain": ["x"], "changed": ["x"], "more": 1}])
def test_what_is_no_cell_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(FaultwireError, match="another shape"):
        CellTask.from_json(value)
