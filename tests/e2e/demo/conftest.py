"""The demo as a user runs it: a command in an empty folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from faultwire.demo.environment import interpreter

REPORT = re.compile(r"^report: (.+)$", re.M)
LEDGER = re.compile(r"^ledger: ([0-9a-f]{64})$", re.M)


@dataclass(frozen=True)
class Ran:
    """What a run of the demo left behind."""

    code: int
    stdout: str
    stderr: str
    folder: Path
    run: Path | None

    @property
    def ledger(self) -> str:
        found = LEDGER.search(self.stdout)
        assert found, self.stdout + self.stderr
        return found[1]

    @property
    def report(self) -> dict:
        return json.loads((self.run / "report.json").read_text())


@pytest.fixture(scope="session")
def agent_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the SDK: the one that was named, or an environment that the demo itself made."""
    named = os.environ.get("FAULTWIRE_DEMO_AGENT_PYTHON")
    if named:
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faultwire-tests"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python, _ = interpreter(None, lambda _text: None, cache)
    return python


@pytest.fixture
def demo(tmp_path: Path, agent_python: Path):
    def run(
        *arguments: str,
        env: dict[str, str] | None = None,
        python: Path | None = agent_python,
    ):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FAULTWIRE_")}
        runs = tmp_path / ".faultwire" / "runs"
        before = set(runs.iterdir()) if runs.exists() else set()
        named = [] if python is None else ["--agent-python", str(python)]
        done = subprocess.run(
            [sys.executable, "-m", "faultwire", "demo", *named, *arguments],
            cwd=tmp_path,
            env=clean | (env or {}),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        made = (set(runs.iterdir()) if runs.exists() else set()) - before
        return Ran(done.returncode, done.stdout, done.stderr, tmp_path, made.pop() if made else None)

    return run


@pytest.fixture
def start_demo(tmp_path: Path, agent_python: Path):
    """Start the demo and do not wait for it; it is killed at the end, should it still run."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, stderr: int = subprocess.DEVNULL):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FAULTWIRE_")}
        command = [sys.executable, "-m", "faultwire", "demo", "--agent-python", str(agent_python), *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": stderr}
        # A background job of a shell ignores SIGINT, and children inherit that; the demo must not.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        started.append(subprocess.Popen(command, cwd=tmp_path, env=clean, **quiet))
        return started[-1], tmp_path

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()
