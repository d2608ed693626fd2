"""Limits are read, refused where they cannot be set, and hold where they can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.load.pressure import REMEDY, Pressure, available, own_group, pressed, settings


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("memory=256M", "memory", 256 << 20),
        ("cpu=0.5", "cpu", 0.5),
        ("fds=64", "fds", 64),
        ("disk=1m", "disk", 1 << 20),
    ],
)
def test_limits_are_read(text, kind, amount):
    assert (Pressure.parse(text).kind, Pressure.parse(text).amount) == (kind, amount)


@pytest.mark.parametrize(
    "text", ["memory", "memory=", "ram=1G", "fds=0.5", "cpu=-1", "cpu=nan", "fds=inf", "cpu=0"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError, match="expected `memory=256M`"):
        Pressure.parse(text)


def test_fewer_files_can_be_opened_under_the_limit_and_arguments_stay_words():
    program = "import resource, sys; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], sys.argv[1])"
    with pressed(Pressure.parse("fds=40"), (sys.executable, "-c", program, "a b; $(c)")) as command:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "40 a b; $(c)"


def test_what_is_written_into_a_group():
    assert settings(Pressure.parse("memory=1M")) == {"memory.max": "1048576", "memory.swap.max": "0"}
    assert settings(Pressure.parse("cpu=0.5")) == {"cpu.max": "50000 100000"}
    device = os.stat(".").st_dev
    wanted = f"{os.major(device)}:{os.minor(device)} rbps=1048576 wbps=1048576"
    assert settings(Pressure.parse("disk=1M")) == {"io.max": wanted}


def test_the_group_is_that_of_the_second_version(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("memory cpu\n")
    assert own_group(tmp_path, "4:memory:/a\n0::/user.slice/x\n") == tmp_path / "user.slice/x"
    assert own_group(tmp_path, "0::/x/faultwire-self\n") == tmp_path / "x"
    assert own_group(tmp_path, "4:memory:/a\n") is None
    assert own_group(tmp_path / "none", "0::/x\n") is None


@pytest.mark.parametrize("what", ["memory=64M", "cpu=1", "disk=1M"])
def test_without_a_delegated_group_the_error_names_the_remedy(tmp_path, what):
    with pytest.raises(
        UsageError, match=f"found no cgroup v2 at `{tmp_path}` for `--pressure {what}`"
    ) as error:
        available([Pressure.parse("fds=64"), Pressure.parse(what)], tmp_path)
    assert REMEDY in str(error.value.hint)
    available([Pressure.parse("fds=64")], tmp_path)


def test_a_group_without_the_controller_is_refused(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    (own / "cgroup.controllers").write_text("cpu\n")
    (own / "cgroup.subtree_control").write_text("")
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n{child.pid}\n")
    monkeypatch.setattr("faultwire.load.pressure.own_group", lambda _root: own)
    available([Pressure.parse("cpu=1")], tmp_path)
    with pytest.raises(UsageError, match="without the controller `memory`"):
        available([Pressure.parse("memory=1M")], tmp_path)
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    with pytest.raises(UsageError, match="with processes that are not ours to move"):
        available([Pressure.parse("cpu=1")], tmp_path)
    child.communicate()


DELEGATED = Path("/sys/fs/cgroup/cgroup.controllers")


@pytest.mark.skipif(not DELEGATED.exists(), reason="this machine has no cgroup v2 at /sys/fs/cgroup")
def test_memory_is_limited_where_a_group_is_delegated():
    one = Pressure.parse("memory=64M")
    try:
        available([one])
    except UsageError as error:
        pytest.skip(str(error))
    program = "b = bytearray(256 << 20); print(len(b))"
    with pressed(one, (sys.executable, "-c", program)) as command:
        assert subprocess.run(command, capture_output=True).returncode != 0
