"""A search is the same whoever makes its runs, and how many at once; its budget holds for those ahead too."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.bench import explore as bench
from tests.unit.explore.planted import Eager, maker, search

from faultwire.errors import UsageError
from faultwire.explore.execute import Executor
from faultwire.explore.journal import Journal
from faultwire.explore.made import Ask, Made
from faultwire.explore.players import Threads
from faultwire.explore.search import OutOfBudget
from faultwire.explore.space import Call, Observation, Point
from faultwire.profile.load import parse
from faultwire.trials.model import Tokens
from faultwire.trials.series import Budget

PROFILE = parse("faults: [{status: {code: 503}}]", "p.yaml")
POINT = Point(Call("GET tools.example/a", 1), "status")
FIRST = frozenset([POINT])
CALM = frozenset[Point]()


def executor(
    path: Path, budget: Budget | None = None, workers: int = 1, tokens: Tokens | None = None
) -> tuple[Executor, list[Ask]]:
    asks: list[Ask] = []

    def make(ask: Ask) -> Made:
        asks.append(ask)
        run = Observation(bool(ask.faults), points=FIRST, fired=ask.faults, seconds=1.0, cost_usd=0.5)
        return Made(replace(run, tokens=tokens or Tokens(100)), {POINT: 3})

    made = Executor(PROFILE, 7, budget or Budget(99), Journal(path, "about"), Threads(make, workers))
    return made, asks


@pytest.mark.parametrize("workers", [1, 3])
def test_runs_come_in_the_order_asked_for_with_pins_where_points_were_seen(
    tmp_path: Path, workers: int
) -> None:
    made, asks = executor(tmp_path / "state", workers=workers)
    (calm,) = made.run_many([CALM])
    assert (calm.failed, made.count(POINT)) == (False, 3)
    found = list(made.run_many([FIRST, CALM, FIRST]))
    assert [run.failed for run in found] == [True, False, True]
    assert (made.runs, made.seconds, made.cost_usd, made.tokens) == (4, 4.0, 2.0, 400)
    assert [ask.lineage for ask in asks] == [True, False, False, False]
    (pin,) = [pin for pin in next(ask for ask in asks if ask.faults).pins if pin.call == 3]
    assert pin.entry == "explore-1-status"
    assert len({ask.key for ask in asks}) == 4, "the same set again is another run"


def test_what_is_in_the_state_file_is_not_run_again(tmp_path: Path) -> None:
    made, _ = executor(tmp_path / "state")
    before = [*made.run_many([CALM]), *made.run_many([FIRST, FIRST])]
    made.journal.close()
    again, asks = executor(tmp_path / "state")
    assert [*again.run_many([CALM]), *again.run_many([FIRST, FIRST])] == before
    assert (asks, again.tokens) == ([], 300)
    assert list(again.run_many([FIRST]))
    assert len(asks) == 1, "the third run of a set is another one"


@pytest.mark.parametrize(
    ("budget", "limit", "runs"),
    [
        (Budget(2), "runs", 2),
        (Budget(99, cost_usd=1.0), "cost", 2),
        (Budget(99, tokens=150), "tokens", 2),
        (Budget(99, seconds=2.0), "time", 2),
    ],
)
def test_no_run_begins_beyond_the_budget(tmp_path: Path, budget: Budget, limit: str, runs: int) -> None:
    made, asks = executor(tmp_path / "state", budget, workers=2)
    with pytest.raises(OutOfBudget):
        list(made.run_many([CALM, CALM, CALM]))
    assert (made.limit, made.runs) == (limit, runs)
    assert len(asks) == runs or (limit == "time" and len(asks) == runs + 1), "one was under way"


def test_an_answer_without_usage_ends_a_limit_of_tokens_and_the_first_run_refuses_it(tmp_path: Path) -> None:
    made, _ = executor(tmp_path / "state", Budget(99, tokens=900), tokens=Tokens(5, 1))
    with pytest.raises(UsageError, match="`--max-tokens 900` and 1 answer of models without usage") as raised:
        next(iter(made.run_many([CALM])))
    assert raised.value.code == "explore.unknown_usage"
    later, asks = executor(tmp_path / "other", Budget(99, tokens=900))
    next(iter(later.run_many([CALM])))
    later.take(0.0, 0, Tokens(5, 1))
    with pytest.raises(OutOfBudget):
        next(iter(later.run_many([CALM])))
    assert (later.limit, len(asks)) == ("usage", 1)
    without, _ = executor(tmp_path / "third", tokens=Tokens(5, 1))
    assert len(list(without.run_many([CALM, CALM]))) == 2


def test_runs_that_are_set_aside_leave_half_of_the_budget_to_what_they_may_ask_for(tmp_path: Path) -> None:
    """A failure among them is confirmed before the next is looked at, and none of them is lost by that."""
    made, asks = executor(tmp_path / "state", Budget(11), workers=4)
    next(iter(made.run_many([CALM])))
    order = []
    for number, _ in enumerate(made.run_many([FIRST] * 9)):
        order.append(f"outer {number}")
        for _ in range(2 if number == 0 else 0):
            next(iter(made.run_many([FIRST])))
            order.append("confirmed")
        if made.runs == 11:
            break
    assert order[:4] == ["outer 0", "confirmed", "confirmed", "outer 1"]
    assert len(asks) == made.runs == 11, "what was begun was looked at"


@settings(max_examples=60, deadline=None)
@given(
    agent=st.integers(0, 400),
    runs=st.integers(3, 120),
    tokens=st.integers(50, 20_000),
    seed=st.integers(0, 99),
)
def test_the_search_is_the_same_however_many_runs_are_made_ahead_and_in_whatever_order(
    agent: int, runs: int, tokens: int, seed: int
) -> None:
    """Under any budget: the same finds and claim, the same runs looked at, and no budget is gone over."""
    made = bench.generated(920_000 + agent)
    budget, found = Budget(runs, tokens=tokens), []
    with tempfile.TemporaryDirectory() as folder:
        for window in (1, 2, 4, 40):
            player = Eager(maker(made), window, random.Random(seed))
            result, executor = search(Path(folder) / str(window), player, budget)
            found.append((result, executor.runs, executor.tokens, executor.limit))
            assert len(player.made) <= runs
            assert sum(player.tokens) < tokens + max(player.tokens)
            if result.ended == "done":
                assert len(player.made) == executor.runs, "what was made ahead was looked at"
    assert found[1:] == found[:1] * 3


def test_a_search_that_took_what_came_first_would_differ(tmp_path: Path) -> None:
    """The control: outcomes in the order of their arrival."""

    class FirstComes(Eager):
        def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Callable[[Ask, Made], None]) -> Made:
            super().play(wanted, ahead, arrived)
            other = self.chance.choice([wanted, *ahead[: self.window - 1]])
            return self.made[other.key]

    made, found = bench.generated(920_003), []
    for window in (1, 4):
        player = FirstComes(maker(made), window, random.Random(1))
        found.append(search(tmp_path / str(window), player, Budget(120))[0])
    assert found[0] != found[1]
