"""A worker makes exactly the runs that are meant, or none."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.explore.test_attempt import FIRST, Runner, ask

from faultwire.campaign.cell import Surroundings
from faultwire.campaign.sealed_box import BoxKey
from faultwire.campaign.trial_request import TrialRequest, answer, asks_for_trials, check, run_id
from faultwire.campaign.worker import MISMATCH
from faultwire.errors import UsageError
from faultwire.trials.oracle import Command

HERE = Surroundings("1.0", "c" * 64, "a" * 64, "p" * 64)
RUNS = {run_id(one, HERE): one for one in (ask(), replace(ask(FIRST), key="l"))}
REQUEST = TrialRequest(HERE, {"command": ["agent"]}, RUNS, bytes(32))


def test_a_request_comes_back_from_the_wire_as_it_was() -> None:
    assert TrialRequest.parse(REQUEST.as_json()) == REQUEST
    assert asks_for_trials(REQUEST.as_json())
    check(REQUEST, HERE)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"expected": {}}', '{"kind": "cells"}'])
def test_a_request_for_cells_is_none_for_runs(text: str) -> None:
    assert not asks_for_trials(text)


@pytest.mark.parametrize("bent", [{"runs": {"a": {}}}, {"expected": 1}, {"search": 1}, {"runs": []}])
def test_what_is_no_request_is_refused(bent: dict[str, Any]) -> None:
    text = json.dumps({**json.loads(REQUEST.as_json()), **bent})
    with pytest.raises(UsageError) as raised:
        TrialRequest.parse(text)
    assert raised.value.code == "campaign.request"


@pytest.mark.parametrize(
    ("other", "word"),
    [
        ("version", "faultwire"),
        ("config", "the configuration"),
        ("agent", "the agent"),
        ("profiles", "the profiles"),
    ],
)
def test_a_machine_that_would_make_other_runs_is_refused(other: str, word: str) -> None:
    with pytest.raises(UsageError, match=f"this worker has {word} `other`") as raised:
        check(REQUEST, replace(HERE, **{other: "other"}))
    assert raised.value.code == MISMATCH


@pytest.mark.parametrize("change", [{"seed": 8}, {"lineage": True}, {"pins": frozenset()}, {"key": "m"}])
def test_a_run_that_is_not_what_its_id_says_is_refused(change: dict[str, Any]) -> None:
    name, one = next(iter(RUNS.items()))
    with pytest.raises(UsageError, match="the content of another") as raised:
        check(replace(REQUEST, runs={name: replace(one, **change)}), HERE)
    assert raised.value.code == MISMATCH


def made_by(runner: Any, tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    key = BoxKey(tmp_path / "key")
    found = answer(replace(REQUEST, public=key.public, **more), HERE, runner, str)
    assert list(found) == ["box"], "nothing of a run is sent in the clear"
    results: list[dict[str, Any]] = json.loads(key.open(b64decode(found["box"])))
    return results


def runner_of(trials: list[Any], kind: type[Runner] = Runner) -> Any:
    # An oracle that is a command has a run of its own for each trial, which this runner stands in for.
    oracle = Command.parse("true")
    return kind(trials, oracle=oracle)


def test_runs_are_made_in_order_and_what_they_took_stands_beside_them(tmp_path: Path) -> None:
    trials: list[Any] = []
    results = made_by(runner_of(trials), tmp_path)
    assert [one["cell"] for one in results] == list(RUNS)
    assert [one["made"]["failed"] for one in results] == [False, True]
    assert {(one["cost_usd"], one["unpriced"], one["tokens"], one["uncounted"]) for one in results} == {
        (0.5, 0, 7, 2)
    }


def test_without_runs_it_is_only_asked_whether_they_would_be_refused() -> None:
    nobody: Any = None
    assert answer(replace(REQUEST, runs={}), HERE, nobody, str) == {"checked": True}
    with pytest.raises(UsageError):
        answer(replace(REQUEST, runs={}), replace(HERE, agent="other"), nobody, str)


def test_one_that_is_asked_to_end_answers_with_what_it_has(tmp_path: Path) -> None:
    class Interrupted(Runner):
        def run(self, trial: Any) -> Any:
            if self.trials:
                raise KeyboardInterrupt
            return super().run(trial)

    assert [one["cell"] for one in made_by(runner_of([], Interrupted), tmp_path)] == [next(iter(RUNS))]
