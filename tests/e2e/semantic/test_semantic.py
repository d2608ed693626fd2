"""The extra `[semantic]` with its real packages, in an environment of its own, without a network.

The lock holds the build of torch that the package index serves, which is some gigabytes; built once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import environments
import pytest

import faultwire

HERE = Path(__file__).parent
PACKAGES = Path(faultwire.__file__).parents[1]
ALIKE = [
    ("The car is fast.", "The automobile is quick."),
    ("Your parcel arrives on Monday.", "On Monday your package will be delivered."),
]
OTHER = [("The car is fast.", "I had soup for lunch.")]
GUARDED = [
    ("The refund is 40 EUR.", "The refund amounts to 45 EUR."),
    ("The door is open.", "The door is not open."),
]


def site() -> Path:
    """The packages of the lock."""
    lock = HERE / "lock.txt"
    place = environments._place("semantic", lock)
    if not place.exists():
        install = ["pip", "install", "--quiet", "--target", "site", "--no-deps", "-r", str(lock)]
        environments._built(place, [[sys.executable, "-m", *install]])
    return place / "site"


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_meanings_and_the_guard_with_the_real_model():
    start = (
        f"import sys,runpy;sys.path[:0]=[{str(PACKAGES)!r},{str(site())!r}];"
        f"runpy.run_path({str(HERE / 'meanings.py')!r},run_name='__main__')"
    )
    run = subprocess.run(
        [f"{sys.base_prefix}/bin/python3", "-I", "-S", "-c", start],
        input=json.dumps(ALIKE + OTHER + GUARDED),
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = json.loads(run.stdout)
    print(found)
    alike, other, guarded = found[:2], found[2:3], found[3:]
    assert all(similarity > 0.7 and same for similarity, same, _ in alike)
    assert all(similarity < 0.3 and not same for similarity, same, _ in other)
    assert all(similarity > 0.7 and not same and reasons for similarity, same, reasons in guarded)
    assert run.stderr == ""
