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
END_CPU = 0.09
"""Of the CPU that a command has used in all: 0.03 are what it takes, 0.16 were it while Python ended it."""
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
TIMES = [pytest.param(2, id="twice"), pytest.param(20, id="often", marks=pytest.mark.nightly)]


COMMAND = ("-m", "faultwire")


def start(
    folder: Path, faultwire: tuple[str, ...] = COMMAND
) -> tuple[subprocess.Popen[str], int, dict[str, Any]]:
    """A command with an agent that waits; the agent's process, and what `run.json` has."""
    folder.mkdir()
    command = [
        sys.executable,
        *faultwire,
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


def cpu_s(pid: int) -> float:
    """The CPU time of all threads of a process so far, without its children's: of one that has ended, too,
    for as long as nobody has waited for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


BREEDING = """
import os, subprocess, sys
sleeps = "import time; time.sleep(120)"
below = subprocess.Popen(
    [sys.executable, "-c", f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {sleeps!r}],"
     " start_new_session=True, stdout=subprocess.DEVNULL); print(p.pid, flush=True); sys.stdin.read()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
)
deep = int(below.stdout.readline())
if "leaves" in sys.argv:  # its parent ends: nobody knows whose it is
    below.communicate()
print(os.getpid(), deep, flush=True)
if "ends" not in sys.argv:
    import time; time.sleep(120)
"""


@linux
@pytest.mark.parametrize("how", [("leaves",), ()], ids=["no parent", "plain"])
@pytest.mark.parametrize("victim", ["command", "engine", "agent", ""])
def test_children_of_children_end_with_the_run(victim: str, how: tuple[str, ...], tmp_path: Path) -> None:
    ends = () if victim else ("ends",)
    arguments = ["exec", "--mock", "--allow-no-traffic", "--", sys.executable, "-c", BREEDING, *how, *ends]
    command = [sys.executable, "-m", "faultwire", *arguments]
    process = subprocess.Popen(
        command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    agent, deep = map(int, process.stdout.readline().split())
    (about,) = (tmp_path / ".faultwire" / "runs").glob("*/run.json")
    pids = {"command": process.pid, "agent": agent, "engine": json.loads(about.read_text())["engine_pid"]}
    if victim:
        os.kill(pids[victim], signal.SIGKILL)
    assert ended_within(deep, ORPHANED_S)
    _, printed = process.communicate(timeout=30)
    if victim == "":
        assert process.returncode == 0, printed
        assert "that the command left behind ended with the run" in printed


def test_what_a_command_left_behind_is_not_said_where_it_left_nothing(tmp_path: Path) -> None:
    arguments = ["exec", "--mock", "--allow-no-traffic", "--", sys.executable, "-c", "print(1)"]
    done = subprocess.run(
        [sys.executable, "-m", "faultwire", *arguments], cwd=tmp_path, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert "left behind" not in done.stderr


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


TAKEN_APART = "from faultwire import __main__ as one; one.Leaving.__call__ = lambda self: None; one.main()"
"""The command as it was: at its end Python takes the interpreter apart."""


@linux
@pytest.mark.parametrize(
    ("how", "quick"), [(("-m", "faultwire"), True), (("-c", TAKEN_APART), False)], ids=["ours", "control"]
)
def test_a_command_whose_engine_was_killed_needs_little_for_its_end(
    how: tuple[str, ...], quick: bool, tmp_path: Path
) -> None:
    # Of CPU, as the machine may have other things to do: on one that is full a user waits tenfold for it.
    process, agent, about = start(tmp_path / "run", how)
    before = cpu_s(process.pid)
    os.kill(about["engine_pid"], signal.SIGKILL)
    assert process.stderr is not None
    printed = process.stderr.read()
    assert ended_within(process.pid, 30)
    whole = cpu_s(process.pid)
    process.communicate()
    assert process.returncode == 3, printed
    assert ended_within(agent, 0)
    assert (whole - before < END_CPU * whole) == quick, f"{whole - before:.2f} of {whole:.2f} s"


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
