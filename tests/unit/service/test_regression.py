"""A drop is reported where a test finds it, and not where chance explains it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.service.conftest import document

from faultwire.service.regression import compared, promotes
from faultwire.service.settings import Rule


@pytest.mark.parametrize(
    ("now", "before", "drops"), [((12, 30), (29, 30), 1), ((28, 30), (29, 30), 0), ((30, 30), (12, 30), 0)]
)
def test_only_a_significant_drop_counts(now: tuple[int, int], before: tuple[int, int], drops: int) -> None:
    found = compared({"contract": document(*now)}, {"contract": document(*before)})
    assert len(found.drops) == drops
    for drop in found.drops:
        assert (drop.now, drop.before) == (now, before)
        assert drop.text.startswith("contract, scenario `calm`: 12 of 30 passed, 29 of 30 before (p = ")
        assert drop.p_value < 0.05


def test_a_drop_over_all_scenarios_is_named_besides() -> None:
    def both(passed: int) -> dict[str, Any]:
        calm, down = document(passed, 30), document(30, 30, "down")
        for part in ("scenarios", "invocations", "cells", "prompts"):
            for one in down[part]:
                one |= {key: f"down-{one[key]}" for key in ("id", "invocation") if key in one}
            calm[part] = calm[part] + down[part]
        return calm

    found = compared({"contract": both(5)}, {"contract": both(29)})
    assert [drop.scenario for drop in found.drops] == [None, "calm"]
    assert found.drops[0].text.startswith("contract, all scenarios: 35 of 60 passed, 59 of 60 before")


def test_phases_of_one_run_only_are_named_and_not_compared() -> None:
    both, other = document(30, 30), document(1, 30)
    found = compared({"contract": both, "mutation": other}, {"contract": both, "replay": both})
    assert (found.drops, found.missing) == ((), ("mutation", "replay"))
    assert set(found.parts) == {"contract"}


RUN: dict[str, Any] = {"status": "finished", "gate": "pass", "command": "ci", "score": 0.95}


@pytest.mark.parametrize(
    ("change", "rule", "promoted"),
    [
        ({}, Rule(command="ci", score=0.9), True),
        ({}, None, False),
        ({"gate": "fail"}, Rule(), False),
        ({"status": "interrupted"}, Rule(), False),
        ({"command": "run"}, Rule(command="ci"), False),
        ({"score": 0.8}, Rule(score=0.9), False),
        ({"score": None}, Rule(score=0.9), False),
    ],
)
def test_a_rule_promotes_what_it_names(change: dict[str, Any], rule: Rule | None, promoted: bool) -> None:
    assert (promotes(rule, {**RUN, **change}, ()) is not None) is promoted


def test_no_rule_promotes_a_run_that_got_worse() -> None:
    found = compared({"contract": document(12, 30)}, {"contract": document(30, 30)})
    assert promotes(Rule(), RUN, found.drops) is None
