"""Each cause from a planted divergence, and the words where it cannot be known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.bench import audit as bench
from tests.unit.audit.test_compare_runs import run

from faultwire.audit.compare_runs import Run
from faultwire.audit.experiment import PLAIN, Audit
from faultwire.audit.finding import Condition

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
        ("fixed chance", "random"),
        ("fresh folder", "environment"),
        (None, "unknown"),
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


def together(*texts: str) -> Run:
    """A run whose first two calls are under way at once."""
    first, second, *rest = run(*texts).exchanges
    return Run((first, replace(second, started_ms=first.started_ms), *rest))


def test_calls_that_overlap_only_when_answers_take_time_are_found_out() -> None:
    """Against quick answers no two calls of `asyncio.gather` are under way at once. Which one comes first is
    the cause all the same."""
    turns = itertools.cycle(("a", "bb", "ccc"))

    def play(condition: Condition, _tape: Run | None) -> Run | None:
        if condition == "fixed order":
            return together("a", "b", "sum up: a, b")
        return run("a", "b", f"sum up: {next(turns)}")

    found = Audit(play).run()
    assert found.cause == "order"


def test_that_no_calls_are_made_at_once_is_said_where_delayed_answers_show_it() -> None:
    found = Audit(varying()).run()
    alone = next(one for one in found.tried if one.condition == "fixed order")
    assert (alone.runs, alone.word) == (1, "differ")
    assert alone.why == "no two calls were under way at once, not even with answers that are delayed"

    turns = itertools.cycle(("a", "bb", "ccc"))

    def at_once(*_: object) -> Run:
        return together("start", "go on", f"x {next(turns)}")

    tried = Audit(at_once).run().tried
    assert not any(one.why for one in tried), "said of calls that were under way at once"
    assert next(one for one in tried if one.condition == "fixed order").runs > 1


def settling(*, in_folder: bool) -> Play:
    """A cache that is full after three runs."""
    count = itertools.count()

    def play(condition: Condition, _tape: Run | None) -> Run | None:
        full = 0 if condition == "fresh folder" and in_folder else min(next(count), 3)
        return run("start", f"x {'y' * full}")

    return play


@pytest.mark.parametrize(("in_folder", "cause"), [(True, "environment"), (False, "unknown")])
def test_a_difference_that_goes_away_by_itself(in_folder: bool, cause: str) -> None:
    """No condition made it go away. The folder is to blame where it brings the difference back as it was."""
    found = Audit(settling(in_folder=in_folder)).run()
    assert (found.cause, found.settled) == (cause, True)
    assert found.tried[-1].condition == "fresh folder"
    assert found.tried[-1].word == ("differ" if in_folder else "agree")


def test_a_folder_that_cannot_be_had_as_it_was_blames_nothing() -> None:
    settles = settling(in_folder=True)
    audit = Audit(lambda condition, tape: None if condition == "fresh folder" else settles(condition, tape))
    found = audit.run()
    assert (found.cause, found.settled, found.tried[-1].word) == ("unknown", True, "untried")


def test_what_changes_slowly_is_not_put_down_to_a_condition() -> None:
    """The machine's load stays for some runs, and by luck for all those under a condition: afterwards it is
    another one under that condition as well."""
    loads = iter("abc" + "ddddd" + "efg" + "h" * 80)
    seen: list[Condition] = []

    def play(condition: Condition, _tape: Run | None) -> Run | None:
        seen.append(condition)
        return run("start", f"the load is {next(loads)}")

    found = Audit(play).run()
    assert seen[3:9] == [seen[3]] * 5 + ["plain"], "by luck one condition has all runs alike"
    assert found.tried[0].word == "differ"
    assert found.cause == "unknown"


@pytest.mark.parametrize(("even", "cause"), [(True, "environment"), (False, "unknown")])
def test_a_counter_outside_of_the_folder_grows_by_the_same_step_in_every_run(even: bool, cause: str) -> None:
    """Two equal steps may be luck: a process id grows by others afterwards."""
    count = itertools.count(1)

    def play(*_: object) -> Run:
        at = next(count)
        return run("start", f"row {1000 + at * 7 + (0 if even or at < 4 else at * at)}")

    assert Audit(play).run().cause == cause


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


@pytest.mark.parametrize(("at", "cause"), [(1, None), (2, "unknown"), (7, "unknown")])
def test_ctrl_c_keeps_what_was_learned(at: int, cause: str | None) -> None:
    play = varying()
    made = itertools.count(1)

    def interrupted(condition: Condition, tape: Run | None) -> Run | None:
        if next(made) > at:
            raise KeyboardInterrupt
        return play(condition, tape)

    found = Audit(interrupted).run()
    assert (found.cause, found.interrupted, found.runs) == (cause, True, at)
    assert bool(found.first) is bool(cause)
    assert not Audit(varying()).run().interrupted
