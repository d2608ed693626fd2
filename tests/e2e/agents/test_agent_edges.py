"""Faults on single edges between agents on the official A2A SDK, and their replay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import environments
import pytest
from harness import Run, execute

from faultwire.mock.client import Mock

TEAM = Path(__file__).parent / "a2a_team.py"
AGENTS = """name: edges
agents:
  planner: {caller: {user-agent: "planner/*"}}
  critic: {url: "*/critic*", caller: {user-agent: "critic/*"}}
  writer: {url: "*/writer*"}
faults:
"""
ALL = [["planner", "writer", "first"], ["planner", "critic", "second"], ["critic", "writer", "third"]]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    with Mock.start() as running:
        yield running


def run(work: Path, mock: Mock, fault: str, rounds: list, *options: str) -> Run:
    (work / "edges.yaml").write_text(AGENTS + fault)
    python = str(environments.python("a2a-1"))
    command = [python, str(TEAM), f"http://127.0.0.1:{mock.http}", json.dumps(rounds)]
    done = execute(work, command, "--profile", "edges.yaml", "--allow-host", "127.0.0.1", *options)
    assert done.code == 0, done.stderr
    return done


def states(done: Run, at: int = 0) -> list[str]:
    return [one.get("error") or one["state"] for one in done.met["rounds"][at]]


def effects(done: Run) -> list[str]:
    return [line.effect or "" for line in done.fired]


def test_a_partition_parts_two_groups_and_nobody_else(mock: Mock, tmp_path: Path) -> None:
    fault = "  - agent_partition: {one: [planner], other: [writer], how: refused}\n    on: {agent: '*'}\n"
    done = run(tmp_path, mock, fault, [ALL])
    refused, *others = states(done)
    assert refused == "AgentCardResolutionError"
    assert others == ["completed", "completed"]
    assert effects(done) == ["`planner` and `writer` are parted: refused"]


@pytest.mark.nightly
def test_a_partition_is_silent_and_heals(mock: Mock, tmp_path: Path) -> None:
    """Each caller gives up after two seconds, until the partition is over: then all get through."""
    fault = "  - agent_partition: {one: [planner], other: [writer], until_s: 20}\n    on: {agent: '*'}\n"
    done = run(tmp_path, mock, fault, [ALL[:1]] * 14)
    met = [state for at in range(14) for state in states(done, at)]
    given_up = met.count("AgentCardResolutionError")
    assert 0 < given_up < 14
    assert met == ["AgentCardResolutionError"] * given_up + ["completed"] * (14 - given_up)
    assert effects(done) == ["`planner` and `writer` are parted: never answered"] * given_up


@pytest.mark.parametrize("which", ["request", pytest.param("answer", marks=pytest.mark.nightly)])
def test_a_lost_message_was_done_or_not_and_the_caller_sees_no_difference(
    which: str, mock: Mock, tmp_path: Path
) -> None:
    fault = f"  - message_lost: {{which: {which}, for_ms: 50}}\n    on: {{edge: 'planner->writer'}}\n"
    done = run(tmp_path, mock, fault, [ALL])
    lost, *others = states(done)
    assert lost == "A2AClientError"
    assert others == ["completed", "completed"]
    (hit,) = [e for e in done.exchanges if any(f.outcome == "fired" for f in e.faults)]
    assert (hit.upstream is not None) is (which == "answer"), "was the agent asked?"
    assert not (hit.delivered and hit.delivered.body)


def test_a_message_is_overtaken_by_the_one_behind_it(mock: Mock, tmp_path: Path) -> None:
    fault = "  - message_reordered: {at_most_ms: 1500}\n    on: {edge: 'planner->writer'}\n"
    fault += "    trigger: {first: 1}\n"
    pair = [["planner", "writer", "first"], ["planner", "writer", "second"]]
    done = run(tmp_path, mock, fault, [pair])
    assert states(done) == ["completed", "completed"]
    assert effects(done) == ["held until another message had been answered"]
    alone = run(tmp_path, mock, fault.replace("1500", "100"), [pair[:1], pair[1:]])
    assert effects(alone) == ["held for 100 ms, and not overtaken: the message was only late"]


def test_a_looping_delegate_asks_until_its_caller_stops(mock: Mock, tmp_path: Path) -> None:
    done = run(
        tmp_path, mock, "  - agent_loops: {question: 'Which?'}\n    on: {edge: 'planner->writer'}\n", [ALL]
    )
    looped, *others = done.met["rounds"][0]
    assert looped == {"said": ["Which?"] * 5, "state": "input_required", "turns": 5}
    assert [one["turns"] for one in others] == [1, 1]


def test_each_caller_of_a_byzantine_agent_gets_another_lie_and_it_replays(mock: Mock, tmp_path: Path) -> None:
    """The same seed the same lies; a replay of the tape is the same to the last byte."""
    rounds = [[[who, "writer", "It costs 1250 euros."] for who in ("planner", "critic", "planner")]]
    fault = "  - agent_lies: {to: each_caller}\n    on: {agent: writer}\n"
    done = run(tmp_path, mock, fault, rounds)
    planner, critic, again = (one["said"][0] for one in done.met["rounds"][0])
    assert planner == again
    assert len({planner, critic, "It costs 1250 euros."}) == 3
    assert all(
        one.upstream and b"1250" in one.upstream.body
        for one in done.exchanges
        if one.request.method == "POST"
    )
    tape = done.tape.rename(tmp_path / "first.tape")
    once_more = run(tmp_path, mock, fault, rounds, "--seed", "42")
    assert once_more.met == done.met
    replayed = run(tmp_path, mock, "  []\n", rounds, "--replay", str(tape))
    assert replayed.met == done.met
    assert bodies(replayed) == bodies(done)
    other_order = [[rounds[0][1]], [rounds[0][0]], [rounds[0][2]]]
    turned = run(tmp_path, mock, "  []\n", other_order, "--replay", str(tape))
    assert [one["said"] for (one,) in turned.met["rounds"]] == [[critic], [planner], [planner]]


def bodies(done: Run) -> list[bytes]:
    """What the callers got, but for the id of JSON-RPC, which the SDK makes anew and an answer repeats."""
    return sorted(
        re.sub(rb'"id":"[0-9a-f-]{36}"', b"", e.delivered.body) for e in done.exchanges if e.delivered
    )
