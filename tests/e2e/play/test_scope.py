"""The tables of docs/explanation/scope.md: each command of a line is run, in a project with an agent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "scope.md").read_text(encoding="utf-8")
LINE = re.compile(r"^\| (?!line \|)(?!-)(.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
COMMAND = re.compile(r"`(faultwire [^`]+)`")
LINES = LINE.findall(PAGE)
STATES = ("works", "differently", "not yet", "out")
WORKING = [
    (line, command) for line, state, rest in LINES if state == "works" for command in COMMAND.findall(rest)
]
FINE = re.compile(r"Traceback|faultwire\.internal")
JUDGING = {"faultwire scan night.tape": (0, 1)}
"""Commands whose exit code is a finding about what they look at."""


def run(folder: Path, command: str) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWIRE_")}
    done = subprocess.run(
        ["bash", "-c", command.replace("-- A", "-- python3 agent.py hi")],
        cwd=folder,
        env=env | {"PATH": path},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scope")
    for command in ("faultwire init", "faultwire exec -q --mock --record night.tape -- A", "faultwire run"):
        code, out = run(folder, command)
        assert code == 0, out
    return folder


def test_every_line_has_one_of_four_states_and_what_works_names_its_command() -> None:
    assert len(LINES) > 50
    assert {state for _, state, _ in LINES} == set(STATES)
    assert [line for line, state, rest in LINES if state == "works" and not COMMAND.search(rest)] == []
    assert [line for line, state, rest in LINES if state != "works" and len(rest) < 10] == []


PLAYED = ("faultwire run", "faultwire ci", "faultwire contract run")
"""What other tests run by day, and what takes longest."""
CASES = [
    pytest.param(*one, id=one[0][:60], marks=[pytest.mark.nightly] if one[1] in PLAYED else [])
    for one in WORKING
]


@pytest.mark.parametrize(("line", "command"), CASES)
def test_what_is_said_to_work_runs(project: Path, line: str, command: str) -> None:
    code, out = run(project, command)
    assert code in JUDGING.get(command, (0,)), f"{line}: {command}\n{out}"
    assert out.strip() or " -q " in command
    assert not FINE.search(out)


def test_a_command_that_is_not_there_is_noticed(project: Path) -> None:
    assert run(project, "faultwire tournament night")[0] == 2
