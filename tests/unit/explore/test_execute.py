"""The executor with a runner that starts nothing: order, keys, budget, and what is not run again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.explore.test_observe import history, line

from faultwire.events import AgentResult
from faultwire.explore.execute import Executor
from faultwire.explore.journal import Journal
from faultwire.explore.search import OutOfBudget
from faultwire.explore.space import Call, Point
from faultwire.profile.load import parse
from faultwire.trials.model import Outcome, Trial
from faultwire.trials.series import Budget

PROFILE = parse("faults: [{status: {code: 503}}]", "p.yaml")
FIRST = frozenset([Point(Call("GET tools.example/a", 1), "status")])


@dataclass(frozen=True)
class Runner:
    """In place of `TrialRunner`."""

    trials: list[Trial]
    profile: Any = PROFILE
    oracle: Any = None

    def run(self, trial: Trial) -> Outcome:
        self.trials.append(trial)
        fired = [line("k0", id=pin.entry, outcome="fired") for pin in trial.pins if pin.call == 1]
        found = replace(history(*(fired or [line("k0")]), line("k1")), agent=AgentResult("done", 0, 1.0))
        if fired:
            found = replace(
                found,
                exchanges=tuple(replace(e, faults=(*e.faults, line(e.key))) for e in found.exchanges),
            )
        self.oracle.judge(found, Path("tape"))
        return Outcome(bool(fired), seconds=1.0, cost_usd=0.5, reason="a secret reason")


class Never:
    description = "never"

    def judge(self, _history: object, _tape: Path) -> tuple[bool, str]:
        return False, ""


def executor(path: Path, runs: int = 9, workers: int = 1) -> tuple[Executor, list[Trial]]:
    trials: list[Trial] = []
    runner: Any = Runner(trials, oracle=Never())
    journal = Journal(path, "about")
    made = Executor(runner, 7, Budget(runs), journal, lambda text: text.replace("secret", "—"), workers)
    return made, trials


@pytest.mark.parametrize("workers", [1, 3])
def test_runs_in_order_with_what_fired(tmp_path: Path, workers: int) -> None:
    made, trials = executor(tmp_path / "state", workers=workers)
    (calm,) = made.run_many([frozenset()])
    assert calm.points >= FIRST
    assert (calm.failed, calm.fired) == (False, frozenset())
    found = list(made.run_many([FIRST, frozenset(), FIRST]))
    assert [run.failed for run in found] == [True, False, True]
    assert found[0].fired == FIRST
    assert found[0].reason == "a — reason"
    assert (made.runs, made.seconds, made.cost_usd) == (4, 4.0, 2.0)
    assert {trial.seed for trial in trials} == {7}


def test_what_is_in_the_state_file_is_not_run_again(tmp_path: Path) -> None:
    made, _ = executor(tmp_path / "state")
    before = [*made.run_many([frozenset()]), *made.run_many([FIRST, FIRST])]
    made.journal.close()
    again, trials = executor(tmp_path / "state")
    assert [*again.run_many([frozenset()]), *again.run_many([FIRST, FIRST])] == before
    assert trials == []
    assert list(again.run_many([FIRST]))
    assert len(trials) == 1, "the third run of a set is another one"


def test_no_run_begins_beyond_the_budget(tmp_path: Path) -> None:
    made, trials = executor(tmp_path / "state", runs=2, workers=2)
    with pytest.raises(OutOfBudget):
        list(made.run_many([frozenset(), frozenset(), frozenset()]))
    assert len(trials) == 2
