"""A budget holds over all workers: what is under way counts as well."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given, strategies as st

from faultwire.campaign.budget import FIRST, Amount, Limits, Spending


def result(cost: float = 0.0, unpriced: int = 0, tokens: int = 0, uncounted: int = 0) -> dict[str, Any]:
    return {"cost_usd": cost, "unpriced": unpriced, "tokens": tokens, "uncounted": uncounted}


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
        spending.add(result())
    assert (spending.allowed(1, 0), spending.spent(0, 0)) == (0, "runs")
    assert spending.words("runs") == "`--max-runs 10`"


LIMITED = [
    (Limits(cost_usd=1.0), result(cost=0.0625), "cost", "`--max-cost 1`"),
    (Limits(tokens=160), result(tokens=10), "tokens", "`--max-tokens 160`"),
]


@pytest.mark.parametrize(("limits", "one", "limit", "words"), LIMITED)
def test_a_limit_starts_with_one_and_then_goes_by_what_was_taken(
    limits: Limits, one: dict[str, Any], limit: Any, words: str
) -> None:
    spending = Spending(limits)
    assert spending.allowed(50, 0) == FIRST == 1
    assert spending.allowed(50, 1) == 0
    spending.add(one)
    assert spending.allowed(50, 0) == 1, "no more at once than were played: the first may be a small one"
    for _ in range(7):
        spending.add(one)
    assert spending.allowed(50, 0) == 8
    assert spending.allowed(50, 6) == 2
    for _ in range(7):
        spending.add(one)
    assert (spending.allowed(50, 0), spending.spent(0, 0)) == (1, None)
    assert spending.allowed(50, 1) == 0
    spending.add(one)
    assert (spending.allowed(1, 0), spending.spent(0, 3), spending.spent(0, 0)) == (0, None, limit)
    assert spending.words(limit) == words
    assert spending.hint(limit) == "the same command with more goes on from there"


def test_what_is_left_for_less_than_the_largest_goes_to_one_alone() -> None:
    amount = Amount()
    for taken in (10, 10, 10, 50):
        amount.add(taken, 0)
    assert amount.allowed(120, 4, 0) == 1, "40 are left: less than the largest, and no less than the mean"
    assert amount.allowed(120, 4, 1) <= 0
    assert amount.allowed(99, 4, 0) <= 0


@given(
    costs=st.lists(st.integers(0, 500), min_size=1, max_size=60),
    limit=st.integers(1, 4000),
    slots=st.integers(1, 8),
    order=st.randoms(use_true_random=False),
)
def test_a_limit_of_tokens_is_gone_over_by_no_more_than_those_at_once_exceed_what_was_known(
    costs: list[int], limit: int, slots: int, order: Any
) -> None:
    """One after the other: by less than one result. Several at once: only by what they take beyond the
    largest before them, and not at all where none does."""
    spending, left = Spending(Limits(tokens=limit)), deque(costs)
    under_way: list[tuple[int, float]] = []
    beyond = 0.0
    while left or under_way:
        wanted = min(len(left), slots - len(under_way))
        for _ in range(spending.allowed(wanted, len(under_way)) if wanted else 0):
            under_way.append((left.popleft(), spending.tokens.largest))
        if not under_way:
            break
        taken, known = under_way.pop(order.randrange(len(under_way)))
        beyond += max(0.0, taken - known)
        spending.add(result(tokens=taken))
    over = spending.tokens.taken - limit
    assert over <= max(costs) if slots == 1 else over <= max(beyond, max(costs))


@given(taken=st.integers(1, 500), limit=st.integers(1, 5000), slots=st.integers(1, 8))
def test_answers_that_are_alike_go_over_a_limit_by_less_than_one_of_them(
    taken: int, limit: int, slots: int
) -> None:
    spending, under_way = Spending(Limits(tokens=limit)), 0
    while True:
        under_way += spending.allowed(slots - under_way, under_way)
        if not under_way:
            break
        under_way -= 1
        spending.add(result(tokens=taken))
    assert spending.tokens.taken < limit + taken
    assert spending.tokens.taken > limit - taken, "and what can be had is had"
    assert spending.spent(0, 0) == "tokens"


UNKNOWN = [
    (Limits(cost_usd=1.0), result(unpriced=1), "price", "a known price, so that `--max-cost 1`", "max-cost"),
    (Limits(tokens=9), result(uncounted=1), "usage", "usage, so that `--max-tokens 9`", "max-tokens"),
]


@pytest.mark.parametrize(("limits", "one", "limit", "words", "without"), UNKNOWN)
def test_an_answer_of_which_it_is_not_known_ends_a_limit_which_could_not_hold(
    limits: Limits, one: dict[str, Any], limit: Any, words: str, without: str
) -> None:
    spending = Spending(limits)
    spending.add(one)
    assert (spending.allowed(50, 10), spending.spent(0, 1), spending.spent(0, 0)) == (0, None, limit)
    assert spending.words(limit) == f"an answer without {words} cannot hold,"
    assert spending.hint(limit).startswith(f"without --{without} the same command goes on")
    assert Spending.after(limits, [one]).spent(0, 0) == limit  # of an earlier start


def test_a_result_of_a_start_that_counted_no_tokens_ends_a_limit_of_tokens_alone() -> None:
    old = {"cost_usd": 0.5}
    assert Spending.after(Limits(tokens=9), [old]).spent(0, 0) == "usage"
    assert Spending.after(Limits(cost_usd=9.0), [old]).spent(0, 0) is None


def test_without_a_limit_of_its_own_nothing_unknown_ends_a_run_and_what_is_free_is_no_unknown() -> None:
    spending = Spending(Limits(runs=100))
    spending.add(result(unpriced=1, uncounted=1))
    assert (spending.allowed(50, 10), spending.spent(0, 0)) == (50, None)
    free = Spending(Limits(cost_usd=1.0))
    for _ in range(60):
        free.add(result())
    assert (free.allowed(50, 10), free.spent(0, 0)) == (50, None)


def test_what_limits_depend_on_is_stated_at_the_start() -> None:
    assert Limits(9, 60.0).conditions == ()
    cost, tokens = Limits(cost_usd=1.0, tokens=900).conditions
    assert cost.startswith("`--max-cost 1` cannot hold for models without a known price: the first answer")
    assert tokens.startswith("`--max-tokens 900` cannot hold for answers without usage: the first one ends")


@pytest.mark.parametrize(("seconds", "limit"), [(59.9, None), (60.0, "time")])
def test_time_ends_it_whatever_is_under_way(seconds: float, limit: str | None) -> None:
    spending = Spending(Limits(seconds=60))
    assert spending.spent(seconds, 5) == limit
    assert spending.words("time") == "`--max-time 60s`"
