"""`init` where nothing can be written: what was found is named, and what mends it.

The file system is a real one, in a mount namespace of the test's own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHIN = ("unshare", "--map-root-user", "--mount", "sh", "-ec")
SCRIPT = """
mount -t tmpfs -o size=1m none "$0" && cd "$0"
mkdir {made} && chmod 0755 . && mount -o remount,{mode} "$0"
exec "$@"
"""
FAULTWIRE = (sys.executable, "-m", "faultwire")


def mounted(folder: Path, mode: str, *, made: str = "other") -> subprocess.CompletedProcess[str]:
    """`faultwire init` in a file system that was mounted so, with a folder in it."""
    script = SCRIPT.format(mode=mode, made=made)
    return subprocess.run(
        [*WITHIN, script, str(folder), *FAULTWIRE, "init"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def allowed() -> None:
    if subprocess.run([*WITHIN, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a mount namespace")


@pytest.mark.parametrize("made", ["other", ".faultwire"])
def test_a_read_only_file_system_is_called_one(tmp_path: Path, made: str) -> None:
    done = mounted(tmp_path, "ro", made=made)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines() == [
        f"config.not_written: cannot write `faultwire.yaml`: found a read-only file system at `{tmp_path}` "
        "(Read-only file system, EROFS), expected one that can be written to",
        "hint: run it in a folder that can be written to, or mount this file system for writing",
    ]


def test_the_same_that_can_be_written_gets_its_files(tmp_path: Path) -> None:
    """The control."""
    done = mounted(tmp_path, "rw")
    assert (done.returncode, done.stdout) == (0, "faultwire.yaml\nagent.py\n"), done.stderr
