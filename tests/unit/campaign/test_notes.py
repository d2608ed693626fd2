"""A report says of a campaign what happened, and nothing where nothing did."""

from __future__ import annotations

from faultwire.campaign.budget import Limits, Spending
from faultwire.campaign.notes import Counts, notes, unbounded


def test_of_a_campaign_without_trouble_nothing_is_noted() -> None:
    assert list(notes(Counts(batches=7, earlier=3), 0)) == []


def test_lost_batches_are_noted_and_those_whose_lease_ended() -> None:
    assert list(notes(Counts(batches=7, lost=1), 0)) == ["lost and played again: 1 batch of 7"]
    (found,) = notes(Counts(batches=7, lost=3, expired=2), 0)
    assert found == "lost and played again: 3 batches of 7 (2 at the end of a lease)"


def test_results_that_came_twice_are_noted() -> None:
    assert list(notes(Counts(doubled=2), 0)) == ["not counted, because their cells had a result: 2 results"]


def test_what_was_played_ahead_for_nothing_is_noted() -> None:
    assert list(notes(Counts(), 4)) == ["played ahead and not looked at: 4 invocations"]


def test_a_limit_of_cost_that_unknown_prices_left_open_is_noted() -> None:
    assert noted(Limits(cost_usd=1.0), 1) == [
        "`--max-cost 1` could not hold: the cost of 1 answer is not known"
    ]
    assert noted(Limits(cost_usd=0.5), 2) == [
        "`--max-cost 0.5` could not hold: the cost of 2 answers is not known"
    ]
    assert noted(Limits(), 2) == noted(Limits(cost_usd=1.0), 0) == []


def test_a_limit_of_tokens_that_answers_without_usage_left_open_is_noted() -> None:
    assert noted(Limits(tokens=900), 0, 1) == [
        "`--max-tokens 900` could not hold: 1 answer came without usage"
    ]
    assert noted(Limits(tokens=900), 3, 0) == noted(Limits(cost_usd=1.0), 0, 3) == []


def noted(limits: Limits, unpriced: int, uncounted: int = 0) -> list[str]:
    spending = Spending(limits)
    spending.add({"cost_usd": 0.1, "unpriced": unpriced, "tokens": 5, "uncounted": uncounted})
    return list(unbounded(spending))
