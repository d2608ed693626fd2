"""Compares what a command prints, and its exit code, with a file beside the test.

Set `FAULTWIRE_SNAPSHOTS=write` to write the files anew; then read the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
FILTERS = (
    (r"\d{8}T\d{6}Z-[0-9a-f]{8}", "[RUN]"),
    (r"\b[0-9a-f]{64}\b", "[SHA256]"),
    (r"sha256 [0-9a-f]{12}\b", "sha256 [SHA256]"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?", "[TIME]"),
    (r"127\.0\.0\.1:\d{2,5}\b", "127.0.0.1:[PORT]"),
    (r"^faultwire( +)\d+\.\d+\.\d+", r"faultwire\1[VERSION]"),
)
"""What differs from run to run or from machine to machine, and what stands for it."""

Snapshot = Callable[..., None]


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Run `faultwire ARGUMENTS` in an empty folder and compare it with `cases/NAME.txt`."""

    def compare(name: str, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "faultwire", *arguments],
            cwd=tmp_path,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        text = (
            f"$ faultwire {' '.join(arguments)}\n[exit {done.returncode}]\n"
            f"--- stdout\n{done.stdout}--- stderr\n{done.stderr}"
        )
        text = filtered(text, tmp_path)
        path = CASES / f"{name}.txt"
        if os.environ.get("FAULTWIRE_SNAPSHOTS") == "write":
            path.write_text(text)
        assert text == path.read_text()

    return compare


def filtered(text: str, folder: Path) -> str:
    """`text` with everything replaced that may differ."""
    builtin = re.compile(r"[^ `(]*/profiles/(?=[a-z_]+\.yaml)")
    text = builtin.sub("[PROFILES]/", text.replace(str(folder), "[HERE]"))
    for pattern, name in FILTERS:
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return text


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH") if name in os.environ}
    if "PYTHONPATH" in kept:
        parts = kept["PYTHONPATH"].split(os.pathsep)
        kept["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in parts)
    return {**kept, "COLUMNS": "100"}
