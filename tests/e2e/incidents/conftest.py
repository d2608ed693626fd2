"""Real `faultwire` processes in a folder of their own, with an agent that calls one tool."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # langsmith_server is a sibling
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))  # environments of SDKs

Done = subprocess.CompletedProcess[str]
Faultwire = Callable[..., Done]
TIMEOUT_S = 120


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and an environment without anybody's proxy or LangSmith settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(
            ("FAULTWIRE_", "LANGSMITH_", "LANGCHAIN_", "SSL_CERT")
        ):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def faultwire(here: Path) -> Faultwire:
    """Run the command to its end and give what it printed."""

    def run(*arguments: str, env: Mapping[str, str] | None = None) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "faultwire", *arguments],
            cwd=here,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    return run
