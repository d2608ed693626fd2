"""A run through `session()` or the pytest plugin has the verdicts that the same run has through `exec`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import harness
import playing
import pytest

import faultwire
from faultwire.checks._registry import make
from faultwire.events import AgentResult, History, Recorded
from faultwire.tape.read.reader import TapeReader

CHECKS = {
    "completes": {},
    "output_not_empty": {},
    "no_retry_storm": {"max_attempts": 2},
    "max_llm_calls": {"max": 1},
    "backs_off": {"min_wait_s": 0, "growing": False},
    "truncated_stream_not_accepted": {},
    "valid_history": {},
    "latency": {"max_ms": 60_000},
}
QUESTION = "Name some rivers."
DOWN = "status: {code: 503}"
EARLY = "early_end: {after_events: 6, first: 1, attempts: first}"


class Case(NamedTuple):
    """An agent, the fault that it meets, and checks that fail of it; of those left out none does."""

    program: str
    arguments: tuple[str, ...]
    fault: str
    failing: frozenset[str]

    @property
    def command(self) -> list[str]:
        return playing.agent("openai-3", self.program, *self.arguments)


CASES = {
    "loop": Case("sampling_agent.py", ("serial", "3", QUESTION), DOWN, frozenset({"no_retry_storm"})),
    "samples": Case("sampling_agent.py", ("parallel", "3", QUESTION), DOWN, frozenset({"max_llm_calls"})),
    "half": Case(
        "ending_agent.py", ("going_on",), EARLY, frozenset({"truncated_stream_not_accepted", "max_llm_calls"})
    ),
    "reported": Case("ending_agent.py", ("exits_2",), DOWN, frozenset({"completes", "output_not_empty"})),
}
PLUGIN = """
import json, pathlib, subprocess, pytest

@pytest.mark.faultwire(tape="t", fault={fault!r}, mock=True)
def test_it(faultwire):
    done = subprocess.run({command!r}, env=faultwire.env, capture_output=True, text=True)
    pathlib.Path("ended.json").write_text(json.dumps([done.stdout, done.returncode]))
"""


def judged(exchanges: tuple[Recorded, ...], answer: str, code: int) -> dict[str, str]:
    """The verdict of each check on a run that ended so."""
    history = History("s", exchanges, AgentResult(answer, code, 1.0))
    return {name: make(name, settings).verdict(history).verdict for name, settings in CHECKS.items()}


def taped(path: Path) -> tuple[Recorded, ...]:
    with TapeReader.open(path) as tape:
        return tuple(tape.exchanges())


def by_exec(case: Case, work: Path) -> dict[str, str]:
    done = harness.execute(work, case.command, "--mock", "--fault", case.fault)
    return judged(done.exchanges, done.stdout, done.code)


def by_session(case: Case, work: Path) -> dict[str, str]:
    with faultwire.session(fault=case.fault, mock=True, environ=False, base=work / ".faultwire") as one:
        env = {**harness.base_environment(), **one.env}
        done = subprocess.run(case.command, env=env, capture_output=True, text=True, check=False, timeout=120)
    return judged(one.history.exchanges, done.stdout, done.returncode)


def by_plugin(case: Case, work: Path) -> dict[str, str]:
    (work / "test_it.py").write_text(PLUGIN.format(fault=case.fault, command=case.command))
    options = ["-p", "faultwire.pytest", "-p", "no:cacheprovider", "-q", "--rootdir", str(work), "test_it.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    answer, code = json.loads((work / "ended.json").read_text())
    return judged(taped(work / "tapes" / "t.tape"), answer, code)


@pytest.mark.parametrize("name", CASES)
def test_every_way_to_run_an_agent_has_the_same_verdicts(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = {}
    for way in (by_exec, by_session, by_plugin):
        (work := tmp_path / way.__name__).mkdir()
        found[way.__name__] = way(case, work)
    assert found["by_session"] == found["by_exec"]
    assert found["by_plugin"] == found["by_exec"]
    assert {check for check, verdict in found["by_exec"].items() if verdict == "fail"} == case.failing
