from __future__ import annotations

from faultwire.trials.model import Outcome, Pin, Trial


def test_pins_are_equal_wherever_they_were_found() -> None:
    assert Pin("status", 2, 5) == Pin("status", 2)
    assert Trial(frozenset({Pin("status", 2, 5)}), 1) == Trial(frozenset({Pin("status", 2)}), 1)
    assert Pin("status", 2, 5).text == "status on its call 2 (#5)"
    assert Pin("status", 2).text == "status on its call 2"
    assert sorted([Pin("status", 2), Pin("latency", 9)])[0].entry == "latency"


def test_an_outcome_is_unknown_until_it_is_judged() -> None:
    assert Outcome(None).failed is None
