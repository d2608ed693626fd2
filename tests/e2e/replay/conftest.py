"""Real `faultwire` processes in a folder of their own; those that replay have no network at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-m", "faultwire")
TIMEOUT_S = 180
OFFLINE = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
"""Run in a network namespace that has a loopback and no route anywhere (needs root)."""

Done = subprocess.CompletedProcess[bytes]
Faultwire = Callable[..., Done]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and an environment without anybody's proxy settings."""
    if "PYTHONPATH" in os.environ:  # a relative one is meant from where the tests were started
        parts = [os.path.abspath(part) for part in os.environ["PYTHONPATH"].split(os.pathsep)]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(
            ("FAULTWIRE_", "SSL_CERT", "NODE_", "JAVA_TOOL")
        ):
            monkeypatch.delenv(name)
    return tmp_path


def _can_unshare() -> bool:
    return os.geteuid() == 0 and subprocess.run([*OFFLINE, "true"], capture_output=True).returncode == 0


@pytest.fixture
def faultwire(here: Path) -> Faultwire:
    """Run the command to its end; `offline` takes every network but the loopback away."""

    def run(*arguments: str, offline: bool = False, env: dict[str, str] | None = None) -> Done:
        before = OFFLINE if offline else ()
        if offline and not _can_unshare():
            pytest.skip("a network namespace needs root")
        return subprocess.run(
            [*before, *COMMAND, *arguments],
            cwd=here,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
        )

    return run


@pytest.fixture
def about(here: Path) -> Callable[[], dict[str, Any]]:
    """The `run.json` of the latest run."""

    def read() -> dict[str, Any]:
        newest = max(
            (here / ".faultwire" / "runs").glob("*/run.json"), key=lambda path: path.stat().st_mtime_ns
        )
        told: dict[str, Any] = json.loads(newest.read_text())
        return told

    return read
