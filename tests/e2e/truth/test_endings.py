"""What `exec` says of how an agent on a real SDK ended, of a half that it went on with, and of errors that no
fault made: each sentence where it is true, and not where it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import harness
import pytest
from playing import HERE, agent, contract

from faultwire.report.noticed import BASIS, BY_OUTPUT

DOWN = ("--fault", "status: {code: 503}")
EARLY = ("--fault", "early_end: {after_events: 6, first: 1, attempts: first}")
BEFORE = "the command exited with "
NO_SUCCESS = "no call of a model succeeded after it, and the command exited 0"
CARRIED = "as a whole message of the assistant in exchange 2"
NO_FAULT = ", which no fault made"
SIGNAL = "Find out what raised the signal: that the failure before it did is not known."
HALF = "without its closing event, was not retried, and the command exited 0"
ALL = (BEFORE, NO_SUCCESS, CARRIED, NO_FAULT, SIGNAL, HALF)


class Done(NamedTuple):
    code: int
    said: str
    truth: list[dict[str, object]]


def run(work: Path, manner: str, *options: str) -> Done:
    done = harness.execute(work, agent("openai-3", "ending_agent.py", manner), "--mock", *options)
    lines = done.stderr.splitlines()
    truth = [json.loads(one[6:]) for one in lines if one.startswith("TRUTH ")]
    said = "\n".join(one for one in lines if not one.startswith("TRUTH "))
    return Done(done.code, said, truth)


def stated(said: str) -> set[str]:
    return {one for one in ALL if one in said}


@pytest.mark.by_day("exits_2-503")
@pytest.mark.parametrize(
    ("manner", "options", "code", "true"),
    [
        pytest.param("exits_2", DOWN, 2, {BEFORE}, id="exits_2-503"),
        pytest.param("exits_2", (), 0, set(), id="exits_2-calm"),
        pytest.param("exits_0", DOWN, 0, {NO_SUCCESS}, id="exits_0-503"),
        pytest.param("exits_0", (), 0, set(), id="exits_0-calm"),
        pytest.param("crashing", DOWN, 134, {SIGNAL}, id="crashing-503"),
        pytest.param("refused", (), 0, {NO_FAULT}, id="refused-calm"),
        pytest.param("going_on", EARLY, 0, {CARRIED}, id="going_on-half"),
        pytest.param("going_on", (), 0, set(), id="going_on-calm"),
        pytest.param("finishing", EARLY, 0, set(), id="finishing-half"),
        pytest.param("once", EARLY, 0, {HALF}, id="once-half"),
    ],
)
def test_what_is_said_of_an_end_is_true(
    manner: str, options: tuple[str, ...], code: int, true: set[str], tmp_path: Path
) -> None:
    done = run(tmp_path, manner, *options)
    assert done.code == code, done.said
    assert stated(done.said) == true, done.said
    assert (BASIS in done.said) == bool(true - {BEFORE, NO_FAULT})
    if true & {NO_SUCCESS}:
        assert BY_OUTPUT["say_so"] in done.said
    if BEFORE in true:
        assert f"{BEFORE}2 after #1: `api.openai.com/v1/chat/completions` answered 503" in done.said
        assert "noticed" not in done.said
    if manner == "refused":
        assert (
            f"#1 `api.openai.com/v1/no/such/thing` answered {done.truth[0]['status']}{NO_FAULT}" in done.said
        )
    if CARRIED in true:
        assert f"the agent sent `{done.truth[0]['text']}` from the answer of exchange 1" in done.said


def test_the_headline_profile_ends_an_only_answer_as_if_it_were_whole(tmp_path: Path) -> None:
    done = run(tmp_path, "once", "--profile", "stream_chaos")
    assert done.code == 0, "no SDK raises anything"
    assert [one["reason"] for one in done.truth] == [None]
    assert f"it ended after `{done.truth[0]['text']}` without its closing event" in done.said
    fired = re.findall(r"  #1 llm  (\w+)", done.said)
    assert sorted(fired) == ["early_end", "slow_tokens"]
    report = next((tmp_path / ".faultwire" / "runs").glob("*/report.json"))
    assert json.loads(report.read_text())["run"]["agent"].endswith("ending_agent.py once")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("manner", "expected"), [("going_on", "fail"), ("finishing", "pass"), ("once", "fail")]
)
def test_the_check_agrees(manner: str, expected: str, tmp_path: Path) -> None:
    faults = [{"early_end": {"after_events": 6}, "trigger": {"first": 1, "attempts": "first"}}]
    said = contract(
        tmp_path,
        agent("openai-3", str(HERE / "ending_agent.py"), manner),
        {"type": "truncated_stream_not_accepted"},
        {"half": faults},
    )
    verdict, why = said.verdicts["half"]
    assert verdict == expected, why
    assert (CARRIED in why) == (manner == "going_on")
    assert ("asked for the rest of the answer and received it" in why) == (manner == "finishing")
