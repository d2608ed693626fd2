"""The memory of the engine, in which the authority's key is: in no core file, and read by nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings

linux = pytest.mark.skipif(sys.platform != "linux", reason="`/proc` and PR_SET_DUMPABLE are Linux's")
NOBODY = 65534


@linux
def test_the_engine_writes_no_core_file_and_cannot_be_read(tmp_path: Path) -> None:
    settings = EngineSettings(run_dir=tmp_path / "run", ca_dir=tmp_path / ".faultwire" / "ca")
    with Engine.start(settings) as engine:
        proc = Path(f"/proc/{engine.pid}")
        limits = proc.joinpath("limits").read_text()
        assert "Max core file size        0                    0 " in limits
        # A process that is not dumpable belongs to root in /proc, so that its own user is kept out.
        assert proc.joinpath("mem").stat().st_uid == 0
        assert proc.joinpath("environ").stat().st_uid == 0


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process as another user")
@pytest.mark.parametrize("private", [True, False])
def test_a_process_of_the_same_user_reads_the_memory_of_another_but_not_of_one_that_is_private(
    private: bool,
) -> None:
    """Both as `nobody`: root may read everything."""
    keep = (
        "from faultwire.mitm.engine.private_memory import keep_private\nkeep_private()\n" if private else ""
    )
    # The package may be where `nobody` may not read: it is imported before the user is given up.
    code = (
        "import ctypes, os, sys\nimport faultwire.mitm.engine.private_memory\n"
        f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)\n"  # a change of the user clears it
        f"{keep}print('ready', flush=True)\nsys.stdin.read()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    first = process.stdout.readline()
    reader = subprocess.run(
        ["/usr/bin/head", "-c", "0", f"/proc/{process.pid}/mem"],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        stderr=subprocess.PIPE,
        check=False,
    )
    process.communicate()
    assert first == b"ready\n"
    assert (reader.returncode == 0) is not private, reader.stderr


def test_no_core_file_may_be_written_where_the_limit_was_another() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource\n"
            "resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))\n"
            "from faultwire.mitm.engine.private_memory import keep_private\nkeep_private()\n"
            "print(resource.getrlimit(resource.RLIMIT_CORE))",
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == "(0, 0)\n"
