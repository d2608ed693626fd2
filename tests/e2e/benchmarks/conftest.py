"""A benchmark's package in an environment of its own, built once from its lock."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents.environments import CACHE, HERE
from tests.e2e.exec.conftest import *  # noqa: F403 - its commands are run in the same way


@pytest.fixture(scope="session")
def agentdojo() -> Path:
    """The interpreter that has AgentDojo."""
    return environment("agentdojo")


@pytest.fixture(scope="session")
def agent_injection_bench() -> Path:
    """The interpreter that has agent-injection-bench."""
    return environment("agent-injection-bench")


def environment(name: str) -> Path:
    """The interpreter of a locked environment, which is built where there is none yet."""
    lock = HERE / "locks" / f"{name}-0.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    place = CACHE / f"{name}-venv-{sys.version_info.minor}-{digest}"
    done = place / "done"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(lock)]
        subprocess.run(pip, check=True, capture_output=True)
        done.touch()
    return place / "bin" / "python"
