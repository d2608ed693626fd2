from __future__ import annotations

import pytest

from faultwire.trials.model import Outcome, Pin, Spent, Trial


def test_pins_are_equal_wherever_they_were_found() -> None:
    assert Pin("status", 2, 5) == Pin("status", 2)
    assert Trial(frozenset({Pin("status", 2, 5)}), 1) == Trial(frozenset({Pin("status", 2)}), 1)
    assert Pin("status", 2, 5).text == "status on its call 2 (#5)"
    assert Pin("status", 2).text == "status on its call 2"
    assert sorted([Pin("status", 2), Pin("latency", 9)])[0].entry == "latency"


def test_an_outcome_is_unknown_until_it_is_judged() -> None:
    assert Outcome(None).failed is None


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (Spent(0.0, 0), "0.0000 dollars of models"),
        (Spent(0.02, 0), "0.0200 dollars of models"),
        (Spent(0.0, 3), "cost of models unknown"),
        (Spent(0.02, 1), "0.0200 dollars of models and the unknown cost of 1 answer"),
        (Spent(0.02, 1).times(3), "0.0600 dollars of models and the unknown cost of 3 answers"),
    ],
)
def test_a_cost_that_is_not_known_is_not_called_nothing(spent: Spent, words: str) -> None:
    assert spent.words == words
