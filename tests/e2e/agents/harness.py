"""Runs an agent the way a user does: `faultwire exec … -- CMD`, and reads what both sides saw."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faultwire.events import FaultFired, Recorded
from faultwire.tape.read.reader import TapeReader

PYTHON_AGENTS = ("openai-3", "openai-2", "anthropic-2", "anthropic-0")
KEYS = {"OPENAI_API_KEY": "sk-test-key-of-nobody", "ANTHROPIC_API_KEY": "sk-ant-test-key-of-nobody"}
LIMIT_S = 280
"""Of one command, below the limit of a test: that a busy machine is slow is no failure."""


def faultwire() -> list[str]:
    """The installed command, next to the interpreter that runs the tests."""
    return [str(Path(sys.executable).with_name("faultwire"))]


def base_environment() -> dict[str, str]:
    """The user's environment without anything that would steer an SDK."""
    dropped = re.compile(r"(?i).*(_proxy|_base_url|ssl_cert.*|_ca_bundle|node_options)$")
    return {k: v for k, v in os.environ.items() if not dropped.match(k)} | KEYS


@dataclass(frozen=True)
class Run:
    """What one `exec` left behind."""

    code: int
    stdout: str
    stderr: str
    met: dict[str, Any]
    exchanges: tuple[Recorded, ...]
    tape: Path
    fired: tuple[FaultFired, ...] = field(default=())

    @property
    def ledger(self) -> str:
        return next(line.split()[-1] for line in self.stderr.splitlines() if "ledger:" in line)


def execute(
    work: Path,
    command: list[str],
    *options: str,
    keys: dict[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> Run:
    """One `faultwire exec` in the folder `work`, recorded on `work/agent.tape`."""
    tape = work / "agent.tape"
    tape.unlink(missing_ok=True)
    done = subprocess.run(
        [*faultwire(), "exec", "--record", str(tape), *options, "--", *command],
        cwd=work, env=base_environment() | (keys or {}), capture_output=True, text=True, timeout=limit_s,
        check=False,
    )  # fmt: skip
    exchanges: tuple[Recorded, ...] = ()
    if tape.exists():
        exchanges = tuple(TapeReader.open(tape).exchanges())
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    met = json.loads(lines[-1]) if lines else {}
    fired = tuple(f for e in exchanges for f in e.faults if f.outcome == "fired")
    return Run(done.returncode, done.stdout, done.stderr, met, exchanges, tape, fired)


def direct(work: Path, command: list[str], extra: dict[str, str]) -> dict[str, Any]:
    """The same agent without faultwire."""
    done = subprocess.run(
        command, cwd=work, env=base_environment() | extra, capture_output=True, text=True,
        timeout=LIMIT_S, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def curl() -> str:
    found = shutil.which("curl")
    if found is None:
        raise AssertionError("curl is needed: apt-get install curl")
    return found
