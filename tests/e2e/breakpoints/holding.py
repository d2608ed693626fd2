"""A run under `faultwire exec` whose agent waits until a breakpoint is set, and the commands that decide."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "faultwire"]
GATE = 'while [ ! -e go ]; do sleep 0.02; done; exec "$@"'
"""Not a wait for an event of ours: the agent's own process waits for a file."""
LIMIT_S = 60.0


class Holding:
    """One run, its agent and a breakpoint."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.said: list[str] = []

    def control(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [*COMMAND, "control", *words], cwd=self.here, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def held(self, count: int = 1) -> list[dict[str, Any]]:
        """What is held, once so much is."""
        ends = time.monotonic() + LIMIT_S
        while time.monotonic() < ends:
            found = json.loads(self.control("held", "--format", "json"))
            if len(found) >= count:
                return list(found)
        raise AssertionError("nothing is held")

    def look(self, ident: str) -> dict[str, Any]:
        return dict(json.loads(self.control("held", ident, "--format", "json")))

    def go(self) -> None:
        (self.here / "go").touch()


@contextmanager
def broken(holding: Holding, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A breakpoint for as long as the block, set by a command of its own."""
    command = [*COMMAND, "control", "break", *words]
    with subprocess.Popen(command, cwd=holding.here, stderr=subprocess.PIPE, text=True) as one:
        try:
            assert one.stderr is not None
            line = one.stderr.readline()
            assert line.startswith("set b"), line + one.stderr.read()
            yield one
        finally:
            if one.poll() is None:
                one.send_signal(signal.SIGINT)
                one.communicate(timeout=30)


@contextmanager
def running(
    here: Path, agent: Sequence[str], *options: str
) -> Iterator[tuple[Holding, subprocess.Popen[str]]]:
    """`faultwire exec` around an agent that waits for `go`."""
    command = [*COMMAND, "exec", *options, "--", "sh", "-c", GATE, "sh", *agent]
    with subprocess.Popen(
        command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        try:
            holding = Holding(here)
            _until_listening(here, process)
            yield holding, process
        finally:
            if process.poll() is None:
                process.kill()


def _until_listening(here: Path, process: subprocess.Popen[str]) -> None:
    """Until the run's folder says that its engine runs."""
    ends = time.monotonic() + LIMIT_S
    while time.monotonic() < ends:
        assert process.poll() is None, process.communicate()
        for path in (here / ".faultwire" / "runs").glob("*/run.json"):
            try:
                about = json.loads(path.read_text())
            except ValueError:  # it is being written
                continue
            if about.get("status") == "running" and "control" in about:
                return
        time.sleep(0.02)
    raise AssertionError("the run did not start")


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What the agent printed."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    line = next(one for one in out.splitlines() if one.startswith("{"))
    return dict(json.loads(line))


def tape_of(here: Path) -> Path:
    """The newest run's tape."""
    return sorted((here / ".faultwire" / "runs").glob("*/run.tape"))[-1]
