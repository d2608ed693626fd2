"""Record, then replay without any network, on every SDK: every byte and every boundary is the same."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

AGAIN = Path(__file__).with_name("again.py")
OFFLINE = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
SOME = (
    "openai 3 (Python)",
    "boto3, Converse",
)
"""What every run tries; the others come at night."""
ALL_REPLAYS = 1000


def again() -> ModuleType:
    spec = importlib.util.spec_from_file_location("again", AGAIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, name: str, times: int, *, offline: bool, limit_s: float) -> dict[str, Any]:
    if offline and os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    done = subprocess.run(
        [*(OFFLINE if offline else ()), sys.executable, str(AGAIN), name, str(times)],
        cwd=folder,
        env={**os.environ, **({"FAULTWIRE_OFFLINE": "1"} if offline else {})},
        capture_output=True,
        timeout=limit_s,
    )
    assert done.returncode == 0, done.stderr.decode()
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def check(folder: Path, name: str, times: int) -> None:
    recorded = run(folder, name, 1, offline=False, limit_s=240)["exchanges"]
    assert recorded >= 4
    told = run(folder, name, times, offline=True, limit_s=60 + 30 * times)
    assert told["streams"] >= times
    expected = {"replays": times, "exchanges": recorded * times, "streams": told["streams"]}
    assert told == {**expected, "missed": 0, "left": 0, "other": 0, "agent": 0}


@pytest.mark.by_day("openai 3 (Python)")
@pytest.mark.parametrize("name", SOME)
def test_twice(name: str, tmp_path: Path) -> None:
    check(tmp_path, name, 2)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", again().names())
def test_a_thousand_times(name: str, tmp_path: Path) -> None:
    check(tmp_path, name, -(-ALL_REPLAYS // len(again().names())))
