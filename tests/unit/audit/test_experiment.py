"""Each cause from a planted divergence, and the words where it cannot be known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.bench import audit as bench
from tests.unit.audit.test_compare_runs import run

from faultwire.audit.compare_runs import Run
from faultwire.audit.experiment import PLAIN, Audit, Condition

Play = Callable[[Condition, Run | None], Run | None]


def varying(fixed: Condition | None = None, words: tuple[str, ...] = ("a", "bb", "ccc")) -> Play:
    """An agent whose second call differs from run to run, but under this condition."""
    turns = itertools.cycle(words)

    def play(condition: Condition, _tape: Run | None) -> Run | None:
        return run("start", "still" if condition == fixed else f"x {next(turns)}")

    return play


@pytest.mark.parametrize(
    ("fixed", "cause"),
    [
        ("frozen clock", "clock"),
        ("fixed hashes", "random"),
        ("fresh folder", "environment"),
        (None, "random"),
    ],
)
def test_the_condition_under_which_runs_agree(fixed: Condition | None, cause: str) -> None:
    found = Audit(varying(fixed)).run()
    assert found.cause == cause
    assert found.first is not None
    assert found.first.call == 2


def test_runs_that_agree_have_no_cause() -> None:
    found = Audit(lambda *_: run("a", "b")).run()
    assert (found.cause, found.runs) == (None, PLAIN)


def test_without_a_condition_the_cause_is_unknown_and_says_what_is_missing() -> None:
    play = varying()
    audit = Audit(
        lambda condition, tape: None if condition == "frozen clock" else play(condition, tape),
        unavailable=lambda condition: f"no {condition}",
    )
    found = audit.run()
    assert found.cause == "unknown"
    assert found.missing == ("frozen clock: no frozen clock",)


def test_an_agent_that_gives_up_under_a_condition_proves_nothing() -> None:
    play = varying("frozen clock")
    short = Audit(lambda condition, tape: run() if condition == "frozen clock" else play(condition, tape))
    found = short.run()
    assert found.cause == "unknown"
    assert found.missing == ("frozen clock: the agent did not come as far under it",)


def test_a_difference_that_goes_away_by_itself_was_left_behind() -> None:
    """A cache that is full after three runs: no condition made it go away."""
    count = itertools.count()
    found = Audit(lambda *_: run("start", f"x {'y' * min(next(count), 3)}")).run()
    assert found.cause == "environment"


def test_what_differs_behind_the_first_difference_is_said_too() -> None:
    turns, others = itertools.count(), itertools.cycle(["one", "two words", "three of them"])

    def play(condition: Condition, _tape: Run | None) -> Run | None:
        first = "still" if condition == "frozen clock" else f"12:00:0{next(turns) % 10}"
        return run("start", first, f"then {next(others)}")

    found = Audit(play).run()
    assert found.cause == "clock"
    assert found.behind is not None
    assert found.behind.call == 3


@pytest.mark.parametrize(("same", "cause"), [(True, "environment"), (False, "code"), (None, "unknown")])
def test_a_run_of_before(same: bool | None, cause: str) -> None:
    found = Audit(lambda *_: run("a", "new"), earlier=run("a", "old"), same_program=same).run()
    assert found.cause == cause
    unchanged = Audit(lambda *_: run("a"), earlier=run("a"), same_program=same).run()
    assert unchanged.cause is None


def test_other_faults_are_a_cause_of_their_own() -> None:
    from faultwire.events import FaultFired

    line = FaultFired("status", "status", "response", "fired", "call 1 matches", "k", 0, 0)
    turns = itertools.cycle([(), (line,)])

    def play(_condition: Condition, _tape: Run | None) -> Run | None:
        faults = next(turns)
        return Run(tuple(replace(one, faults=faults) for one in run("a").exchanges))

    assert Audit(play).run().cause == "fault"


def test_planted_divergences_of_each_kind() -> None:
    """A short form of the benchmark, with another seed than its own."""
    found = [(case, *case.audited()) for case in bench.cases(60, 7)]
    right = sum(finding.cause == case.cause for case, finding, _, _ in found)
    shaped = sum(shape == case.cause for case, _, shape, _ in found)
    assert right / len(found) >= 0.9
    assert shaped / len(found) < 0.7, "the cases are no harder than a look at the values"
