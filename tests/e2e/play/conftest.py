"""Projects with a `faultwire.yaml`, played by the command as a user plays them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TALKER = Path(__file__).with_name("talker.py")
TIMEOUT_S = 180
BASE: dict[str, Any] = {
    "version": "2.0",
    "agent": {"type": "command", "command": [sys.executable, "talker.py", "{prompt}"]},
    "proxy": {"mock": True},
    "golden_prompts": ["What is the capital of France?", {"id": "hello", "prompt": "Say hello."}],
    "invariants": [{"type": "output_not_empty"}, {"type": "completes", "severity": "critical"}],
    "advanced": {"concurrency": 4, "seed": 7},
}


@dataclass(frozen=True)
class Project:
    """A folder with a configuration and the talker in it."""

    folder: Path

    def write(self, **sections: Any) -> None:
        """The base configuration with these sections; None takes one out."""
        said = {key: value for key, value in {**BASE, **sections}.items() if value is not None}
        (self.folder / "faultwire.yaml").write_text(json.dumps(said, indent=1))

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """`faultwire ARGUMENTS…` in the folder."""
        return subprocess.run(
            [sys.executable, "-m", "faultwire", *arguments],
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    @property
    def runs(self) -> list[Path]:
        """The folders of its runs, the oldest first."""
        return sorted((self.folder / ".faultwire" / "runs").iterdir())

    def document(self, name: str = "report") -> dict[str, Any]:
        """A report of the last run."""
        found: dict[str, Any] = json.loads((self.runs[-1] / f"{name}.json").read_text())
        return found

    def about(self) -> dict[str, Any]:
        """`run.json` of the last run."""
        found: dict[str, Any] = json.loads((self.runs[-1] / "run.json").read_text())
        return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, in an environment without anybody's proxy settings."""
    if "PYTHONPATH" in os.environ:  # a relative one is meant from where the tests were started
        parts = [os.path.abspath(part) for part in os.environ["PYTHONPATH"].split(os.pathsep)]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("FAULTWIRE_", "SSL_CERT", "TALKER")):
            monkeypatch.delenv(name)
    shutil.copy(TALKER, tmp_path / "talker.py")
    return Project(tmp_path)


@pytest.fixture
def write_profile(project: Project) -> Callable[[str, str], None]:
    """Put a profile into the project's `profiles/`."""

    def write(name: str, text: str) -> None:
        folder = project.folder / "profiles"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.yaml").write_text(text)

    return write
