"""Folders with a configuration, played by the command as a user plays them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TIMEOUT_S = 240

Faultwire = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shapes and their agents, in a folder of their own."""
    shutil.copytree(HERE / "flakestorm", tmp_path, dirs_exist_ok=True)
    for name in ("shape_agent.py", "shape_server.py"):
        shutil.copy(HERE / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def faultwire(tmp_path: Path, port: int) -> Faultwire:
    """`faultwire ARGUMENTS…` there, in an environment without anybody's proxy settings or keys."""
    dropped = ("FAULTWIRE_", "SSL_CERT", "OPENAI_", "AGENT_PORT")
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy") and not name.startswith(dropped)
    }
    if "PYTHONPATH" in env:  # a relative one is meant from where the tests were started
        env["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, env["PYTHONPATH"].split(os.pathsep)))

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "faultwire", *arguments],
            cwd=tmp_path,
            env={**env, "AGENT_PORT": str(port), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    return run
