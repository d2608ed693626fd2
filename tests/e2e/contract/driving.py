"""Runs `faultwire` on a configuration, as users do, and reads the report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 240
_STEERING = re.compile(r"(?i).*(_proxy|_base_url|ssl_cert.*|_ca_bundle|node_options|faultwire_.*)$")


@dataclass(frozen=True)
class Done:
    """How a command ended, and its report."""

    code: int
    stdout: str
    stderr: str
    report: dict[str, Any]

    def cells(self, **wanted: str) -> dict[str, str]:
        """Verdicts by invariant, of the cells with these values."""
        return {
            cell["invariant"]: cell["verdict"]
            for cell in self.report["cells"]
            if all(cell[key] == value for key, value in wanted.items())
        }


def environment(**extra: str) -> dict[str, str]:
    """The user's environment without anything that would steer an SDK or us."""
    return {k: v for k, v in os.environ.items() if not _STEERING.match(k)} | extra


def faultwire(folder: Path, *arguments: str, **extra: str) -> Done:
    """Run the command in a folder; the report is that of a `-o report.json` among the arguments."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("faultwire")), *arguments],
        cwd=folder,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    path = folder / "report.json"
    report = json.loads(path.read_text() or "{}") if path.exists() else {}
    return Done(done.returncode, done.stdout, done.stderr, report)
