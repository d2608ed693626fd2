"""An agent on a real framework that the tape drives: its callers' requests again, its answers compared."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import environments
import pytest
from harness import base_environment, execute, faultwire
from test_workflow_bugs import FRAMEWORKS, script

AGENT = Path(__file__).with_name("served_agent.py")
PROFILE = """name: team
agents:
  planner: {caller: {user-agent: "planner/*"}}
  billing: {url: "*/billing*", instructions: "You are the billing agent*"}
faults: []
"""
TWO = pytest.mark.parametrize("framework", ["langgraph", "openai-agents"])


def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def command(framework: str, at: int, *tasks: str) -> list[str]:
    return [str(environments.python(FRAMEWORKS[framework])), str(AGENT), framework, str(at), *tasks]


@pytest.fixture
def whole(framework: str, tmp_path: Path) -> str:
    """A tape of planner and billing."""
    (tmp_path / "team.yaml").write_text(PROFILE)
    (tmp_path / "s.yaml").write_text(script(""))
    done = execute(
        tmp_path, command(framework, port(), "Bill it.", "And again."),
        "--profile", "team.yaml", "--allow-host", "127.0.0.1", "--script", "s.yaml",
        "--mock-except", "127.0.0.1",
    )  # fmt: skip
    assert done.code == 0, done.stderr
    assert len(done.met["answers"]) == 2
    return str(done.tape.rename(tmp_path / "whole.tape"))


def driven(work: Path, whole: str, framework: str, *options: str) -> subprocess.CompletedProcess[str]:
    at = port()
    return subprocess.run(
        [*faultwire(), "replay", "agent", whole, "--agent", "billing", "--at", f"http://127.0.0.1:{at}",
         "--timeout", "120s", "--profile", "team.yaml", *options, "--", *command(framework, at)],
        cwd=work, env=base_environment(), capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip


@TWO
def test_an_agent_that_is_as_it_was_answers_as_recorded_and_another_model_is_seen(
    framework: str, whole: str, tmp_path: Path
) -> None:
    same = driven(tmp_path, whole, framework)
    assert same.returncode == 0, same.stderr
    assert "driven     2 recorded requests to `billing`: all answered as recorded" in same.stderr
    assert "diverged" not in same.stderr
    (tmp_path / "s.yaml").write_text(script("unpaid"))
    other = driven(tmp_path, whole, framework, "--live-model", "--script", "s.yaml")
    assert other.returncode == 1, other.stderr
    assert "driven     2 recorded requests to `billing`: 2 answered otherwise" in other.stderr
    assert "    $.answer\n" in other.stderr
    assert "      + Reserved.\n" in other.stderr
    files = sorted((tmp_path / ".faultwire" / "runs").glob("*/driven.json"))
    written = [json.loads(file.read_text())["requests"] for file in files]
    assert [[one["same"] for one in some] for some in written] == [[True, True], [False, False]]


@pytest.mark.parametrize("framework", ["langgraph"])
def test_an_agent_of_which_nobody_asked_anything_is_refused(
    framework: str, whole: str, tmp_path: Path
) -> None:
    (tmp_path / "team.yaml").write_text(PROFILE.replace("*/billing*", "*/elsewhere*"))
    done = driven(tmp_path, whole, framework)
    assert done.returncode == 2
    assert "found no request to `billing`" in done.stderr
