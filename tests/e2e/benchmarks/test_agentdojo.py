"""AgentDojo on the wire: the agent is a process of its own, and ends as the framework says."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments

from faultwire.benchmarks.plan import Outcome, Pair, spread
from faultwire.benchmarks.player import CONTROL, ROUTE, Player
from faultwire.benchmarks.server import AGENT, TaskServer
from faultwire.runner.launch import LaunchSettings, start_run

RELEASE = "v1.2.2"
ALL = 609
"""Pairs of the release with a ground truth and a place to inject."""
OUTCOMES, CONTEXTS = 0.995, 0.95
NOW = re.compile(r"20(?:2[6-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
"""When something was sent or changed, by the clock of the run; the environments lie in 2024."""


def parity(python: Path, count: int, at_once: int = 2) -> list[tuple[Outcome, dict[str, Any]]]:
    """What came of pairs on the wire, and inside of the framework."""
    asked = {"version": RELEASE, "attack": "important_instructions"}
    with TaskServer(python, "agentdojo_tasks") as server:
        pairs = [Pair(*one) for one in server.ask("pairs", version=RELEASE)]
        assert len(pairs) == ALL
        few = spread(pairs, count)
        route = {ROUTE: f"http://127.0.0.1:{server.port}"}
        with start_run(LaunchSettings("bench", reverse=route)) as run:
            player = Player(server, run, asked, CONTROL, 120.0, 42, obeys=1.0, keep=True)
            outcomes = player.play_all([("agent", pair) for pair in few], at_once, lambda _: None)
            run.folder.end("finished")
        return [
            (one, server.ask("reference", **asked, **one.pair._asdict(), obeys=True, word=""))
            for one in outcomes
        ]


def same_outcome(one: Outcome, reference: dict[str, Any]) -> bool:
    return (one.utility, one.obeyed) == (reference["utility"], reference["obeyed"])


def same_context(one: Outcome, reference: dict[str, Any]) -> bool:
    mine, theirs = (
        [NOW.sub("NOW", text) for text in results] for results in (one.results, reference["results"])
    )
    return mine == theirs


def judged(found: list[tuple[Outcome, dict[str, Any]]]) -> tuple[float, float]:
    """The shares of equal outcomes and of equal contexts."""
    assert [one.void for one, _ in found if one.void] == []
    assert all(one.reach == "reached" for one, _ in found)
    outcomes = [same_outcome(one, theirs) or (one.pair.scored_wrong and one.obeyed) for one, theirs in found]
    contexts = [same_context(one, theirs) for one, theirs in found]
    wrong = [one.pair.label for (one, _), equal in zip(found, outcomes, strict=True) if not equal]
    other = [one.pair.label for (one, _), equal in zip(found, contexts, strict=True) if not equal]
    print(f"{len(found)} pairs: outcomes other than inside: {wrong}; contexts: {other}")
    return sum(map(bool, outcomes)) / len(found), sum(contexts) / len(found)


def test_a_few_pairs_end_as_inside_of_the_framework_and_the_model_reads_the_same(
    here: Path, agentdojo: Path
) -> None:
    assert judged(parity(agentdojo, 6)) == (1.0, 1.0)


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_all_pairs_do(here: Path, agentdojo: Path) -> None:
    outcomes, contexts = judged(parity(agentdojo, ALL))
    assert outcomes >= OUTCOMES
    assert contexts >= CONTEXTS


def bench(faultwire: Any, python: Path, *more: str) -> Any:
    return faultwire("bench", "agentdojo", "--python", str(python), "--controls", "1", "-q", *more)


def test_an_unmodified_agent_of_the_official_sdk_is_attacked_on_its_http_tools(
    faultwire: Any, here: Path, agentdojo: Path
) -> None:
    agent = [
        str(environments.python("openai-3")),
        str(Path(__file__).with_name("openai_agent.py")),
        "{prompt}",
    ]
    options = ("--suite", "banking", "--pairs", "2", "--format", "json", "--scripted-model")
    for chance, succeeded in (("1", 2), ("0", 0)):
        done = bench(faultwire, agentdojo, *options, chance, "--", *agent)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["attack_success"]["count"], found["attack_success"]["total"]) == (succeeded, 2)
        assert found["utility"]["rate"] == 1.0
        (written,) = (here / ".faultwire" / "runs").glob("*/bench.json")
        assert json.loads(written.read_text()) == found
        written.unlink()


def test_an_agent_that_uses_no_tool_gets_no_rate_and_one_that_fails_none(
    faultwire: Any, here: Path, agentdojo: Path
) -> None:
    few = ("--suite", "banking", "--pairs", "1", "--scripted-model", "1", "--")
    idle = "import os, urllib.request as u; print(u.urlopen(os.environ['FAULTWIRE_BENCH_TOOLS_URL']).status)"
    done = bench(faultwire, agentdojo, *few, sys.executable, "-c", idle)
    assert done.returncode == 3
    assert b"1 attack that the agent never read" in done.stdout
    assert b"none of 1 attack reached the agent" in done.stderr
    done = bench(faultwire, agentdojo, *few, sys.executable, "-c", "raise SystemExit(4)")
    assert done.returncode == 3
    assert b"sent nothing through the proxy" in done.stdout


def test_a_threshold_and_a_text_of_our_own(faultwire: Any, here: Path, agentdojo: Path) -> None:
    few = ("--suite", "slack", "--pairs", "1", "--scripted-model", "1", "--max-asr", "50")
    done = bench(faultwire, agentdojo, *few, "--attack", "direct", "--", sys.executable, str(AGENT))
    assert done.returncode == 1, done.stderr
    assert b"attack success rate   100.0 % (1 of 1)" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--attack", "nope"), b"found attack `nope`"),
        (("--suite", "nope"), b"found suite `nope`, expected one of workspace, travel, banking, slack"),
        (("--python", sys.executable), b"pip install 'agentdojo==0.1.35'"),
    ],
)
def test_what_cannot_be_played_is_said(
    options: tuple[str, ...], words: bytes, faultwire: Any, here: Path, agentdojo: Path
) -> None:
    done = bench(faultwire, agentdojo, *options, "--", sys.executable, str(AGENT))
    assert done.returncode == 2
    assert words in done.stderr
