"""A budget holds over all workers: what is under way counts as well."""

from __future__ import annotations

import pytest

from faultwire.campaign.budget import FIRST, Limits, Spending


def test_without_limits_everything_is_allowed() -> None:
    spending = Spending(Limits())
    assert spending.allowed(1000, 500) == 1000
    assert spending.spent(1e9, 0) is None


def test_no_more_runs_are_given_out_than_are_allowed_also_where_none_has_ended() -> None:
    spending = Spending(Limits(runs=10))
    assert spending.allowed(8, 0) == 8
    assert spending.allowed(8, 8) == 2
    assert spending.spent(0, 10) is None  # their results count as well
    for _ in range(10):
        spending.add(0.0)
    assert (spending.allowed(1, 0), spending.spent(0, 0)) == (0, "runs")
    assert spending.words("runs") == "`--max-runs 10`"


def test_a_limit_of_cost_starts_with_a_few_and_then_goes_by_what_they_cost() -> None:
    spending = Spending(Limits(cost_usd=1.0))
    assert spending.allowed(50, 0) == FIRST
    assert spending.allowed(50, FIRST) == 0
    for _ in range(4):
        spending.add(0.05)
    assert spending.allowed(50, 0) == 16
    assert spending.allowed(50, 10) == 6
    for _ in range(16):
        spending.add(0.05)
    assert (spending.allowed(1, 0), spending.spent(0, 0)) == (0, "cost")
    assert spending.words("cost") == "`--max-cost 1`"


def test_an_answer_without_a_known_price_ends_a_limit_of_cost_which_could_not_hold() -> None:
    spending = Spending(Limits(cost_usd=1.0))
    spending.add(0.0, 1)
    assert (spending.allowed(50, 10), spending.spent(0, 1), spending.spent(0, 0)) == (0, None, "price")
    assert spending.words("price") == "an answer without a known price, so that `--max-cost 1` cannot hold,"
    assert Spending(Limits(cost_usd=1.0), 1, 0.0, 1).spent(0, 0) == "price"  # of an earlier start


def test_without_a_limit_of_cost_prices_need_not_be_known_and_what_costs_nothing_is_no_unknown() -> None:
    spending = Spending(Limits(runs=100))
    spending.add(0.0, 1)
    assert (spending.allowed(50, 10), spending.spent(0, 0)) == (50, None)
    free = Spending(Limits(cost_usd=1.0))
    free.add(0.0)
    assert (free.allowed(50, 10), free.spent(0, 0)) == (50, None)


@pytest.mark.parametrize(("seconds", "limit"), [(59.9, None), (60.0, "time")])
def test_time_ends_it_whatever_is_under_way(seconds: float, limit: str | None) -> None:
    spending = Spending(Limits(seconds=60))
    assert spending.spent(seconds, 5) == limit
    assert spending.words("time") == "`--max-time 60s`"
