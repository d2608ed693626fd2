"""What a search sees of a run, with a runner that starts nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.unit.explore.test_observe import history, line

from faultwire.events import AgentResult
from faultwire.explore.attempt import Attempts
from faultwire.explore.derive import derived, derived_id
from faultwire.explore.made import Ask
from faultwire.explore.space import Call, Faults, Point
from faultwire.profile.load import parse
from faultwire.trials.model import Outcome, Tokens, Trial

PROFILE = parse("faults: [{status: {code: 503}}]", "p.yaml")
PLACE = "GET tools.example/a"
FIRST, FAR = Point(Call(PLACE, 1), "status"), Point(Call(PLACE, 9), "status")


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
        return Outcome(bool(fired), seconds=1.0, cost_usd=0.5, reason="a secret reason", tokens=Tokens(7, 2))


class Never:
    description = "never"

    def judge(self, _history: object, _tape: Path) -> tuple[bool, str]:
        return False, ""


def ask(*points: Point) -> Ask:
    faults: Faults = frozenset(points)
    profile, pins = derived(PROFILE, faults, {FIRST: 1, FAR: 9}, {PLACE: 1})
    return Ask(
        "k", faults, profile, pins, 7, {one: derived_id("status", PLACE, {PLACE: 1}) for one in faults}
    )


def test_what_fired_and_where_faults_could_have() -> None:
    trials: list[Trial] = []
    runner: Any = Runner(trials, oracle=Never())
    attempts = Attempts(runner, lambda text: text.replace("secret", "—"))
    calm = attempts.make(ask())
    assert calm.run.points >= {FIRST}
    assert calm.counts[FIRST] == 1
    assert (calm.run.failed, calm.run.fired) == (False, frozenset())
    found = attempts.make(ask(FIRST)).run
    assert (found.failed, found.fired, found.reason) == (True, {FIRST}, "a — reason")
    assert (found.seconds, found.cost_usd, found.tokens) == (1.0, 0.5, Tokens(7, 2))
    assert {trial.seed for trial in trials} == {7}
    assert attempts.make(ask(FIRST, FAR)).run.fired == {FIRST}, "the ninth call never came"


def test_runs_that_share_an_engine_are_made_there() -> None:
    class Shared:
        made = 0

        def run(self, trial: Trial, runner: Any) -> Outcome:
            Shared.made += 1
            return runner.run(trial)  # type: ignore[no-any-return]

    runner: Any = Runner([], oracle=Never())
    shared: Any = Shared()
    assert Attempts(runner, str, shared).make(ask(FIRST)).run.failed
    assert Shared.made == 1
