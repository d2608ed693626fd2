"""agent-injection-bench on the wire: its own package judges, and its harness ends in the same way."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments

from faultwire.benchmarks.plan import Pair
from faultwire.benchmarks.player import CONTROL, ROUTE, Player
from faultwire.benchmarks.server import AGENT, TaskServer
from faultwire.runner.launch import LaunchSettings, start_run

TURNS = 2
"""Cases of an earlier turn."""


def bench(faultwire: Any, python: Path, *more: str) -> Any:
    return faultwire("bench", "agent-injection-bench", "--python", str(python), "--controls", "21", *more)


def agent() -> list[str]:
    script = str(Path(__file__).with_name("openai_agent.py"))
    return [str(environments.python("openai-3")), script, "{prompt}"]


@pytest.mark.parametrize(("chance", "succeeded"), [("1", 19), ("0", 0)])
def test_an_unmodified_agent_is_attacked_by_every_channel_that_reaches_it(
    chance: str, succeeded: int, faultwire: Any, here: Path, agent_injection_bench: Path
) -> None:
    options = ("--scripted-model", chance, "--format", "json", "-q", "--")
    done = bench(faultwire, agent_injection_bench, *options, *agent())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["attack_success"]["count"], found["attack_success"]["total"]) == (succeeded, 19)
    assert (found["planned"], found["not_carried"], found["not_reached"]) == (21, TURNS, 0)
    assert (found["utility"]["count"], found["utility"]["total"]) == (3, 3)
    assert found["utility_under_attack"] is None
    assert (found["controls"]["victim"]["obeyed"], found["controls"]["deaf"]["obeyed"]) == (19, 0)
    assert found["package"] == "0.1.0"


def test_every_case_ends_as_in_its_own_harness_and_the_model_reads_the_same_results(
    here: Path, agent_injection_bench: Path
) -> None:
    asked = {"version": "0.1.0", "attack": "own"}
    with TaskServer(agent_injection_bench, "aib_tasks") as server:
        pairs = [Pair(*one) for one in server.ask("pairs", version="")]
        attacks = [pair for pair in pairs if pair.injection is not None]
        assert (len(pairs), len(attacks)) == (24, 21)
        route = {ROUTE: f"http://127.0.0.1:{server.port}"}
        for obeys in (1.0, 0.0):
            with start_run(LaunchSettings("bench", reverse=route)) as run:
                player = Player(server, run, asked, CONTROL, 60.0, 42, obeys=obeys, keep=True)
                found = player.play_all([("agent", pair) for pair in attacks], 2, lambda _: None)
                run.folder.end("finished")
            for one in found:
                if one.reach == "not carried":
                    assert one.pair.suite == "multi_turn"
                    continue
                order = {**asked, **one.pair._asdict(), "obeys": bool(obeys), "word": ""}
                theirs = server.ask("reference", **order)
                assert (one.reach, one.void) == ("reached", "")
                assert (one.obeyed, list(one.results)) == (theirs["obeyed"], theirs["results"])
                assert one.obeyed == bool(obeys), one.pair.label


def test_what_no_task_can_carry_is_printed_and_not_counted_as_resisted(
    faultwire: Any, here: Path, agent_injection_bench: Path
) -> None:
    options = ("--suite", "multi_turn", "--suite", "user_message", "--scripted-model", "0", "--")
    done = bench(faultwire, agent_injection_bench, *options, sys.executable, str(AGENT))
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "attack success rate   0.0 % (0 of 1)" in text
    assert "not judged            2 attacks that no result can carry:" in text
    assert "it stands in an earlier turn, and a command is given one task" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--attack", "faultwire:override"), b"found attack `faultwire:override`, expected one of own"),
        (("--suite", "nope"), b"found suite `nope`, expected one of tool_result, document"),
        (("--python", sys.executable), b"pip install 'agent-injection-bench==0.1.0'"),
    ],
)
def test_what_cannot_be_played_is_refused(
    options: tuple[str, ...], words: bytes, faultwire: Any, here: Path, agent_injection_bench: Path
) -> None:
    done = bench(faultwire, agent_injection_bench, *options, "--", sys.executable, str(AGENT))
    assert done.returncode == 2
    assert words in done.stderr
