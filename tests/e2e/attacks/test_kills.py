"""Real kills: the agent dies with the command, and the command says that its engine died."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from faultwire.runner.past_runs import runs

AGENT = "import os, time; print(os.getpid(), flush=True); time.sleep(120)"
ORPHANED_S, ENDED_S = 2.0, 1.0
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
TIMES = [pytest.param(2, id="twice"), pytest.param(20, id="often", marks=pytest.mark.nightly)]


def start(folder: Path) -> tuple[subprocess.Popen[str], int, dict[str, Any]]:
    """A command with an agent that waits; the agent's process, and what `run.json` has."""
    folder.mkdir()
    command = [
        sys.executable,
        "-m",
        "faultwire",
        "exec",
        "--mock",
        "--allow-no-traffic",
        "--",
        sys.executable,
    ]
    process = subprocess.Popen(
        [*command, "-c", AGENT], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    agent = int(process.stdout.readline())
    (about,) = (folder / ".faultwire" / "runs").glob("*/run.json")
    return process, agent, json.loads(about.read_text())


def ended_within(pid: int, seconds: float) -> bool:
    """Does a process end in time? One that only waits for its parent to ask has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


@linux
@pytest.mark.parametrize("times", TIMES)
def test_a_killed_command_takes_its_processes_along(times: int, tmp_path: Path) -> None:
    for number in range(times):
        folder = tmp_path / str(number)
        process, agent, about = start(folder)
        state = folder / ".faultwire"
        assert [run.status for run in runs(state)] == ["running"]
        process.kill()
        process.communicate()
        assert ended_within(agent, ORPHANED_S)
        assert ended_within(about["engine_pid"], ORPHANED_S + 5.0)
        assert json.loads(next(state.glob("runs/*/run.json")).read_text())["status"] == "running"
        assert [run.status for run in runs(state)] == ["died"]


@pytest.mark.parametrize("times", TIMES)
def test_a_killed_engine_ends_the_run_and_says_so(times: int, tmp_path: Path) -> None:
    for number in range(times):
        process, agent, about = start(tmp_path / str(number))
        began = time.monotonic()
        os.kill(about["engine_pid"], signal.SIGKILL)
        assert ended_within(agent, ENDED_S)
        _, printed = process.communicate(timeout=30)
        lasted = time.monotonic() - began
        assert process.returncode == 3, printed
        assert "engine.lost: the engine ended with code `-9`" in printed
        assert lasted < ENDED_S + 2.0
        assert [run.status for run in runs(tmp_path / str(number) / ".faultwire")] == ["void"]


def test_without_the_binding_an_agent_outlives_its_starter() -> None:
    starter = (
        "import subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, '-c', {AGENT!r}], stdout=subprocess.PIPE)\n"
        "print(p.stdout.readline().decode(), flush=True)\np.wait()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    agent = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    assert not ended_within(agent, 0.5)
    os.kill(agent, signal.SIGKILL)
