"""Trials with real processes: an agent, the mock and an engine each."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.profile.load import parse
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.tape.read.reader import TapeReader
from faultwire.trials.execute import NOT_ON_TAPE, TrialRunner, answering_hosts, answers_of_faults
from faultwire.trials.model import Pin, Trial
from faultwire.trials.oracle import Command, ExitCode
from faultwire.trials.shared import SharedTrials, shared_trials

AGENT = """import httpx, os, sys
url = "https://api.openai.com/v1/chat/completions"
failed = []
for number in range(1, 5):
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"Step {number}?"}]}
    answer = httpx.post(url, json=asked, headers={"authorization": "Bearer sk-none"})
    failed += [number] if answer.status_code != 200 else []
print(failed)
sys.exit(1 if {1, 3} <= set(failed) else 0)
"""
PROFILE = parse("faults: [{status: {code: 503}, trigger: {probability: 0.9}}]", "p.yaml")


@pytest.fixture
def runner(tmp_path: Path) -> TrialRunner:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    settings = LaunchSettings("trial", mock=True, base=tmp_path / "state")
    return TrialRunner(settings, PROFILE, (sys.executable, str(agent)), ExitCode())


def calls(*numbers: int) -> Trial:
    return Trial(frozenset(Pin("status", number) for number in numbers), 42)


def test_pinned_decisions_fire_and_no_other(runner: TrialRunner, tmp_path: Path) -> None:
    tape = tmp_path / "kept.tape"
    outcome = runner.run(calls(1, 3), keep=tape)
    assert (outcome.failed, outcome.exchanges, outcome.tape) == (True, 4, tape)
    assert outcome.fired == calls(1, 3).pins
    assert outcome.cost_usd > 0
    assert outcome.seconds > 0
    assert runner.run(calls(1, 4)).failed is False
    assert not (tmp_path / "state" / "runs").exists(), "trials are no runs of the user's"
    assert not list((tmp_path / "state" / "trials" / "runs").iterdir()), "and leave no folder"


def test_a_tape_never_gives_the_answer_of_a_fault_for_a_servers(runner: TrialRunner, tmp_path: Path) -> None:
    tape = tmp_path / "kept.tape"
    runner.run(calls(1, 3), keep=tape)
    settings = LaunchSettings("trial", replay=ReplaySettings(tape=tape), base=tmp_path / "state")
    with TapeReader.open(tape) as reader:
        made = answers_of_faults(reader.exchanges())
    replayed = replace(runner, settings=settings, made_by_faults=made)
    assert replayed.run(calls(1, 3)).failed is True
    for fewer, lacking in ((calls(3), "1 call"), (calls(), "2 calls")):
        unknown = replayed.run(fewer)
        assert unknown.failed is None
        assert unknown.reason == f"{NOT_ON_TAPE} to {lacking}"


def test_a_run_without_traffic_proves_nothing(runner: TrialRunner) -> None:
    silent = replace(runner, command=(sys.executable, "-c", "raise SystemExit(1)"))
    outcome = silent.run(calls())
    assert outcome.failed is None
    assert "no traffic" in outcome.reason


def test_trials_share_a_run_and_are_what_they_are_alone(runner: TrialRunner, tmp_path: Path) -> None:
    """The same faults at the same calls in every session, and one engine for all of them."""
    with SharedTrials(runner) as shared:
        outcomes = [shared.run(calls(*numbers)) for numbers in ((1, 3), (1, 4), (1, 3), ())]
        (folder,) = (tmp_path / "state" / "trials" / "runs").iterdir()
        assert folder.is_dir()
    assert [one.failed for one in outcomes] == [True, False, True, False]
    assert outcomes[0].fired == outcomes[2].fired == calls(1, 3).pins
    assert [one.exchanges for one in outcomes] == [4, 4, 4, 4], "a session has its own exchanges only"
    assert not list((tmp_path / "state" / "trials" / "runs").iterdir())


def test_sessions_that_share_a_run_have_the_dice_of_the_one_that_failed(runner: TrialRunner) -> None:
    """Chance decides here, call by call: the same in each session of these dice, not in others."""
    chance = parse("faults: [{status: {code: 503}, trigger: {probability: 0.5}}]", "p.yaml")
    with start_run(runner.settings) as run:
        answers = []
        for name, dice in (("exec~1", "exec"), ("exec~2", "exec"), ("exec", ""), ("other", "")):
            environment = run.open_session(name, chance, 7, dice)
            subprocess.run(runner.command, env=environment, check=False, capture_output=True, timeout=60)
            run.close_session(name)
            answers.append([len(one.faults) and one.faults[0].outcome for one in run.history(name).exchanges])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0] != answers[3]


def test_a_host_that_lost_a_call_without_a_fault_is_not_expected_to_answer(
    runner: TrialRunner, tmp_path: Path
) -> None:
    tape = tmp_path / "kept.tape"
    runner.run(calls(1, 3), keep=tape)
    with TapeReader.open(tape) as reader:
        (first, *rest) = reader.exchanges()
    assert answering_hosts([first, *rest]) == {"api.openai.com"}
    lost = replace(rest[0], ending="upstream_aborted", faults=())
    assert answering_hosts([first, lost]) == frozenset()


def test_trials_at_once_share_an_engine_and_a_new_one_begins_while_they_last(
    runner: TrialRunner, tmp_path: Path
) -> None:
    """Three threads, and a run for every four sessions: one that was replaced ends with its last session."""
    wanted = [(1, 3), (1, 4), (1, 3), ()] * 2
    with SharedTrials(runner) as shared:
        shared._shared.each = 4
        with ThreadPoolExecutor(3) as pool:
            outcomes = list(pool.map(lambda numbers: shared.run(calls(*numbers)), wanted))
        (left,) = (tmp_path / "state" / "trials" / "runs").iterdir()
        assert left.is_dir(), "the first one has ended"
    assert [one.failed for one in outcomes] == [True, False, True, False] * 2
    assert [one.fired for one in outcomes] == [calls(*numbers).pins for numbers in wanted]
    assert {one.exchanges for one in outcomes} == {4}
    assert not list((tmp_path / "state" / "trials" / "runs").iterdir())


def test_the_command_of_an_oracle_gets_a_tape_with_one_session(runner: TrialRunner) -> None:
    """It may read the whole tape, so that its trials share none."""
    command = replace(runner, oracle=Command.parse("true"))
    assert shared_trials(command) is None
    assert shared_trials(runner) is not None
