"""A recorded team of which one agent runs, the others from the tape: two frameworks, and the A2A SDK."""

from __future__ import annotations

import json
from pathlib import Path

import environments
import pytest
from harness import Run, execute
from test_workflow_bugs import AGENT, FRAMEWORKS, script

from faultwire.mock.client import Mock

TEAM = Path(__file__).parent / "a2a_team.py"
PROFILE = """name: team
agents:
  planner: {instructions: "You are*planner*"}
  billing: {instructions: "You are*billing agent*"}
  writer: {instructions: "You are*writer*"}
faults: []
"""
TWO = pytest.mark.parametrize("framework", ["langgraph", "openai-agents"])
PAID, UNPAID = script(""), script("unpaid")
"""What the models of the team do; in the second one billing's forgets to pay."""


def team(work: Path, framework: str, *options: str, only: tuple[str, ...] = ()) -> Run:
    (work / "team.yaml").write_text(PROFILE)
    python = str(environments.python(FRAMEWORKS[framework]))
    return execute(work, [python, str(AGENT), framework, *(("", *only) if only else ())],
                   "--profile", "team.yaml", *options)  # fmt: skip


@pytest.fixture
def recorded(framework: str, tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(PAID)
    done = team(tmp_path, framework, "--script", "s.yaml")
    assert done.code == 0, done.stderr
    assert done.met == {"answer": "Order ORD-77 is settled."}
    return done.tape.rename(tmp_path / "team.tape")


@TWO
def test_one_agent_runs_alone_and_the_others_are_played_by_the_tape(
    framework: str, recorded: Path, tmp_path: Path
) -> None:
    done = team(tmp_path, framework, "--replay", str(recorded), "--live-agent", "billing",
                only=("billing", "Bill it."))  # fmt: skip
    assert done.code == 0, done.stderr
    assert done.met == {"answer": "Reserved and paid."}
    assert "live: `billing`, 4 calls" in done.stderr
    assert "from the tape alone: planner, 2 recorded calls" in done.stderr
    assert "from the tape alone: writer, 1 recorded call" in done.stderr
    assert "diverged" not in done.stderr


@TWO
def test_its_model_answers_anew_and_the_first_agent_with_a_difference_is_named(
    framework: str, recorded: Path, tmp_path: Path
) -> None:
    live = ("--replay", str(recorded), "--live-agent", "billing", "--live-model", "--script", "s.yaml")
    same = team(tmp_path, framework, *live)
    assert same.code == 0, same.stderr
    assert same.met == {"answer": "Order ORD-77 is settled."}
    assert "live: `billing`, 4 calls, 4 of them to a model that answered anew" in same.stderr
    (tmp_path / "s.yaml").write_text(UNPAID)
    other = team(tmp_path, framework, *live)
    assert other.code == 1, other.stderr
    assert "a call of `writer`: it differs from exec#7" in other.stderr
    assert "- Reserved and paid." in other.stderr
    assert "+ Reserved." in other.stderr


@TWO
def test_an_agent_that_asks_what_only_another_one_asked_gets_no_answer(
    framework: str, recorded: Path, tmp_path: Path
) -> None:
    """The task differs from what the tape's planner handed on: billing's call is named as one that missed."""
    done = team(tmp_path, framework, "--replay", str(recorded), "--live-agent", "billing",
                only=("billing", "Bill it twice."))  # fmt: skip
    assert done.code == 1
    assert "a call of `billing`: it differs from exec#3" in done.stderr
    assert "+ Bill it twice." in done.stderr


A2A = """name: edges
agents:
  planner: {caller: {user-agent: "planner/*"}}
  critic: {caller: {user-agent: "critic/*"}}
  writer: {url: "*/writer*"}
faults: []
"""


def asked(work: Path, calls: list[list[str]], *options: str, port: int) -> Run:
    (work / "edges.yaml").write_text(A2A)
    command = [str(environments.python("a2a-1")), str(TEAM), f"http://127.0.0.1:{port}", json.dumps([calls])]
    return execute(work, command, "--profile", "edges.yaml", "--allow-host", "127.0.0.1", *options)


def test_other_agents_answer_from_the_tape_and_each_caller_gets_its_own_answers(tmp_path: Path) -> None:
    """The A2A SDK; the mock that was the other agents is gone. The critic's answers are nobody else's."""
    with Mock.start() as mock:
        port = mock.http
        first = asked(tmp_path, [["critic", "writer", "one"], ["planner", "writer", "two"]], port=port)
        assert first.code == 0, first.stderr
    tape = first.tape.rename(tmp_path / "whole.tape")
    live = ("--replay", str(tape), "--live-agent", "planner")
    alone = asked(tmp_path, [["planner", "writer", "two"]], *live, port=port)
    assert alone.code == 0, alone.stderr
    assert alone.met["rounds"][0] == first.met["rounds"][0][1:]
    assert "from the tape alone: critic, 2 recorded calls" in alone.stderr
    stolen = asked(tmp_path, [["planner", "writer", "one"]], *live, port=port)
    assert stolen.code == 1, "what only the critic asked is not the planner's to get"
    assert "a call of `planner`: it differs from" in stolen.stderr
    control = asked(tmp_path, [["planner", "writer", "one"]], "--replay", str(tape), port=port)
    assert control.met["rounds"][0] == first.met["rounds"][0][:1], "any agent's call gets it otherwise"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--live-agent", "nobody"), "expected an agent with a mark of its requests"),
        (("--live-agent", "ghost"), "found no call on `whole.tape` that bears the mark of `ghost`"),
        (("--live-model",), "expected it together with `--live-agent`"),
    ],
)
def test_an_agent_that_is_not_known_is_refused_before_anything_starts(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with Mock.start() as mock:
        first = asked(tmp_path, [["planner", "writer", "one"]], port=mock.http)
    first.tape.rename(tmp_path / "whole.tape")
    (tmp_path / "edges.yaml").write_text(A2A.replace("faults", "  ghost: {caller: {user-agent: g}}\nfaults"))
    marker = tmp_path / "started"
    done = execute(
        tmp_path, ["touch", str(marker)], "--profile", "edges.yaml", "--replay", "whole.tape", *options
    )
    assert done.code == 2
    assert words in done.stderr
    assert not marker.exists()
