"""Which failures `ci --explain` searches; that it does is for the end-to-end tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.report.conftest import CUT, fired, play, recorded

from faultwire.campaign.ci_run import Result
from faultwire.checks._registry import make
from faultwire.cli import _explained
from faultwire.cli._explained_trials import Invariant, runner
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.contract.matrix import judge
from faultwire.events import AgentResult, History
from faultwire.profile.model import Profile
from faultwire.runner.launch_settings import LaunchSettings
from faultwire.runner.phases import Phase
from faultwire.runner.play_phase import Outcome
from faultwire.runner.run import Played

CALM = Scenario("calm", Profile(name="calm"))
CHECKS = (make("contains", {"id": "says", "value": "391", "severity": "high"}),)


def played(name: str, answer: str, *faults: int, repeat: int = 1) -> Played:
    """An invocation in which these calls were broken."""
    invocation = Invocation(
        Scenario(name, Profile(name=name, entries=(CUT,) if faults else ())), Prompt("p1", "What?"), repeat
    )
    exchanges = tuple(
        recorded(
            at,
            invocation.id,
            faults=(fired(key=f"k{at}", reason=f"call {at} matches"),) if at in faults else (),
        )
        for at in (1, 2, 3)
    )
    return Played(invocation, History(invocation.id, exchanges, AgentResult(answer, 0, 0.1)))


def result(*made: Played, phase: str = "contract", checks: Any = CHECKS) -> Result:
    """A run of one phase in which these were played."""
    matrix = judge(checks, [(one.invocation, one.history) for one in made])
    shown = play()
    document = shown | {
        "prompts": [{"id": "p1", "text": "What?"}],
        "cells": [
            {"invariant": c.invariant, "severity": c.severity, "scenario": c.invocation.scenario.name,
             "invocation": c.invocation.id, "verdict": c.verdict.verdict}
            for c in matrix.cells
        ],
        "invocations": [
            {"id": one.invocation.id, "scenario": one.invocation.scenario.name, "prompt": "p1",
             "repeat": one.invocation.repeat}
            for one in made
        ],
    }  # fmt: skip
    of = Phase(cast("Any", phase), (), (), checks, tuple(one.invocation for one in made))
    whole = SimpleNamespace(documents={phase: document}, outcomes=(Outcome(of, made, matrix),))
    return cast("Result", whole)


def found(one: Result, baseline: Any = None) -> list[Any]:
    return _explained._failures(one, baseline)


def test_cells_that_fail_in_the_same_way_are_one_failure_and_the_shortest_is_searched() -> None:
    (one,) = found(result(played("down", "no", 1, 2), played("down", "no", 2, repeat=2)))
    assert one.row()["also"] == 1
    assert one.played.invocation.repeat == 2
    assert [pin.exchange for pin in one.pins] == [2]


def test_other_scenarios_and_other_faults_are_other_failures() -> None:
    assert len(found(result(played("down", "no", 1), played("up", "no", 1)))) == 2
    assert len(found(result(played("down", "no", 1), played("down", "no", repeat=2)))) == 2


def test_what_passes_is_no_failure_nor_what_had_failed_before() -> None:
    assert found(result(played("down", "391", 1))) == []
    one = result(played("down", "no", 1))
    assert found(one, {"contract": one.documents["contract"]}) == []
    assert len(found(one, {"chaos": one.documents["contract"]})) == 1, "of another phase"


def test_the_worst_comes_first() -> None:
    checks = (make("contains", {"id": "minor", "value": "391", "severity": "low"}), *CHECKS)
    rows = [one.row() for one in found(result(played("down", "no", 1), checks=checks))]
    assert [row["invariant"] for row in rows] == ["says", "minor"]


@pytest.mark.parametrize(
    ("phase", "faults", "why"),
    [
        ("contract", (), "no fault had reached the agent"),
        ("replay", (1,), "as it was recorded"),
        ("contract", (1,), ""),
    ],
)
def test_what_cannot_be_searched_says_why(phase: str, faults: tuple[int, ...], why: str) -> None:
    (one,) = found(result(played("down", "no", *faults), phase=phase))
    assert (why in one.why_not) if why else not one.why_not


def test_an_invariant_over_all_invocations_is_not_searched() -> None:
    once = (make("sometimes", {"id": "once", "check": {"type": "contains", "value": "391"}}),)
    (one,) = found(result(played("down", "no", 1), checks=once))
    assert "over all invocations" in one.why_not


def test_an_invariant_judges_a_run_without_faults_and_sees_the_calm_answer() -> None:
    broken = played("down", "no", 1)
    calm = Played(Invocation(CALM, Prompt("p1", "What?")), History("calm", (), AgentResult("391", 0, 0.1)))
    same = make("behavior_unchanged", {"id": "same"})
    oracle = Invariant(same, broken.invocation, [calm])
    assert oracle.judge(History("x", (), AgentResult("391", 0, 0.1)), Path())[0] is False
    assert oracle.judge(History("x", (), AgentResult("something else", 0, 0.1)), Path())[0] is True
    assert Invariant(same, broken.invocation, []).judge(broken.history, Path())[0] is None
    assert "`same`" in oracle.description


def test_the_mock_answers_trials_where_it_answered_everything_and_else_the_tape() -> None:
    one = played("down", "no", 1)
    oracle = Invariant(CHECKS[0], one.invocation, ())
    mocked = runner(LaunchSettings("ci", mock=True), Path("a.tape"), Profile(name="x"), one.history, oracle)
    assert mocked.settings.mock
    assert mocked.settings.replay is None
    for settings in (LaunchSettings("ci"), LaunchSettings("ci", mock=True, mock_except=("a.example",))):
        live = runner(settings, Path("a.tape"), Profile(name="x"), one.history, oracle)
        assert not live.settings.mock
        assert live.settings.replay is not None
        assert live.settings.replay.offline, "nothing is called that costs money"
        assert live.settings.replay.answering("down/p1/r1~x2") == "down/p1/r1"
