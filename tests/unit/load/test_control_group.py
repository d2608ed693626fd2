"""Limits of control groups, on folders that look like a kernel's, and on this kernel where it lets us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.load.control_group import LEAF, REMEDY, ROOT, limited, place, second, settings
from faultwire.load.pressure import Pressure, available, pressed

TWO = "0::/work\n"
ONE = "4:memory:/a\n3:cpu,cpuacct:/\n2:pids:/\n1:blkio:/\n0::/\n"


@pytest.fixture
def modern(tmp_path: Path) -> Path:
    """A hierarchy of version 2 with a group that is ours."""
    own = tmp_path / "work"
    own.mkdir()
    (tmp_path / "cgroup.controllers").write_text("cpu io memory pids\n")
    (own / "cgroup.controllers").write_text("cpu io memory pids\n")
    (own / "cgroup.subtree_control").write_text("")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n")
    return tmp_path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Hierarchies of version 1, and one of version 2 beside them without a controller."""
    for name in ("memory/a", "cpu,cpuacct", "pids", "blkio", "unified"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "cgroup.procs").write_text("")
    (tmp_path / "unified" / "cgroup.controllers").write_text("\n")
    return tmp_path


def test_what_is_written_into_a_group_of_version_2():
    assert settings("memory", 1 << 20, 2) == (("memory.max", "1048576"), ("memory.swap.max", "0"))
    assert settings("cpu", 0.5, 2) == (("cpu.max", "50000 100000"),)
    assert settings("pids", 32, 2) == (("pids.max", "32"),)
    device = os.stat(".").st_dev
    wanted = f"{os.major(device)}:{os.minor(device)} rbps=1048576 wbps=1048576"
    assert settings("disk", 1 << 20, 2) == (("io.max", wanted),)


def test_what_is_written_into_a_group_of_version_1():
    assert settings("memory", 1 << 20, 1)[0] == ("memory.limit_in_bytes", "1048576")
    assert settings("cpu", 0.5, 1) == (("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "50000"))
    assert settings("pids", 32, 1) == (("pids.max", "32"),)


def test_the_group_of_the_second_version_is_found_alone_and_beside_others(modern, tmp_path):
    assert second(modern, TWO) == modern / "work"
    assert second(modern, f"0::/work/{LEAF}\n") == modern / "work"
    assert second(modern, "4:memory:/a\n") is None
    assert second(tmp_path / "none", TWO) is None
    beside = tmp_path / "hybrid" / "unified"
    beside.mkdir(parents=True)
    (beside / "cgroup.controllers").write_text("\n")
    assert second(tmp_path / "hybrid", "4:memory:/a\n0::/x\n") == beside / "x"


@pytest.mark.parametrize("kind", ["memory", "cpu", "pids", "disk"])
def test_version_2_is_taken_where_it_has_the_controller(kind, modern):
    assert place(kind, f"{kind}=1", modern, TWO) == (modern / "work", 2)


@pytest.mark.parametrize(("kind", "own"), [("memory", "memory/a"), ("cpu", "cpu,cpuacct"), ("pids", "pids")])
def test_version_1_is_taken_where_the_controller_is_there_only(kind, own, old):
    assert place(kind, f"{kind}=1", old, ONE) == (old / own, 1)


def test_a_disk_is_refused_where_buffered_writes_would_go_past_the_limit(old):
    with pytest.raises(UsageError, match="found cgroup v1, which limits no buffered writes"):
        place("disk", "disk=1M", old, ONE)


@pytest.mark.parametrize("kind", ["memory", "cpu", "pids", "disk"])
def test_without_control_groups_the_error_names_the_remedy(kind, tmp_path):
    with pytest.raises(UsageError, match=f"found no control groups at `{tmp_path}`") as error:
        place(kind, f"{kind}=1", tmp_path, TWO)
    assert REMEDY in str(error.value.hint)


def test_a_group_that_is_not_ours_is_refused(modern, monkeypatch):
    own = modern / "work"
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n{child.pid}\n")
    assert place("cpu", "cpu=1", modern, TWO).version == 2
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    with pytest.raises(UsageError, match="with processes that are not ours to move"):
        place("cpu", "cpu=1", modern, TWO)
    (own / "cgroup.controllers").write_text("cpu\n")
    with pytest.raises(UsageError, match="without the controller `memory`"):
        place("memory", "memory=1M", modern, TWO)
    child.communicate()


@pytest.fixture
def kernel(modern: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, whose new groups have their files, as a kernel makes them."""
    made = Path.mkdir

    def mkdir(self: Path, *args: object, **options: object) -> None:
        made(self, *args, **options)
        if self.name.startswith("faultwire-"):
            for name in ("memory.max", "memory.swap.max", "cpu.max", "pids.max", "io.max"):
                (self / name).write_text("max\n")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(
        "faultwire.load.control_group.place", lambda kind, text, root: place(kind, text, root, TWO)
    )
    return modern


@pytest.mark.parametrize(
    ("kind", "amount", "file"),
    [
        ("memory", 1 << 20, "memory.max"),
        ("cpu", 0.5, "cpu.max"),
        ("pids", 8, "pids.max"),
        ("disk", 64, "io.max"),
    ],
)
def test_the_limit_stands_in_its_file_and_in_no_other_and_processes_are_moved_aside(
    kind, amount, file, kernel
):
    with limited(kind, amount, f"{kind}=1", kernel) as group:
        assert group.parent == kernel / "work"
        assert (group / file).read_text().strip() == dict(settings(kind, amount, 2))[file]
        others = {"memory.max", "cpu.max", "pids.max", "io.max"} - {file}
        assert {(group / other).read_text() for other in others} == {"max\n"}
    assert (kernel / "work" / LEAF / "cgroup.procs").read_text() == str(os.getpid())
    controller = {"disk": "io"}.get(kind, kind)
    assert (kernel / "work" / "cgroup.subtree_control").read_text() == f"+{controller}"


def test_a_limit_that_the_kernel_does_not_take_is_refused(kernel, monkeypatch):
    """Written, and read back as something else: no run may pretend to be under it."""
    wrong = (("cpu.max", "50000 100000"),)
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self: "max 100000\n" if self.name == "cpu.max" else read(self)
    )
    assert settings("cpu", 0.5, 2) == wrong
    with pytest.raises(
        UsageError, match=r"found `max 100000` in `cpu\.max` after `50000 100000` was written"
    ):
        limited("cpu", 0.5, "cpu=0.5", kernel).__enter__()


def test_a_file_that_is_not_there_is_refused(kernel, monkeypatch):
    monkeypatch.setattr(
        "faultwire.load.control_group.settings", lambda *_: (("memory.limit_in_bytes", "1048576"),)
    )
    with pytest.raises(UsageError, match=r"`memory\.limit_in_bytes`, which cannot be set"):
        limited("memory", 1 << 20, "memory=1M", kernel).__enter__()


def _here(text: str) -> Pressure:
    one = Pressure.parse(text)
    try:
        available([one])
    except UsageError as error:
        pytest.skip(f"no control group at `{ROOT}` can be divided here: {error}")
    return one


def test_memory_is_limited_on_this_kernel():
    program = "b = bytearray(256 << 20); print(len(b))"
    with pressed(_here("memory=64M"), (sys.executable, "-c", program)) as command:
        assert subprocess.run(command, capture_output=True).returncode == -9
    with pressed(_here("memory=512M"), (sys.executable, "-c", program)) as command:
        assert subprocess.run(command, capture_output=True).stdout == b"268435456\n"


def test_processes_are_limited_on_this_kernel():
    program = """
import subprocess
for made in range(20):
    try: kept = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    except BlockingIOError: break
    globals()[f"p{made}"] = kept
print(made)
"""
    with pressed(_here("pids=8"), (sys.executable, "-c", program)) as command:
        assert int(subprocess.run(command, capture_output=True, check=True).stdout) <= 7


def test_processor_time_is_limited_on_this_kernel():
    """A tenth of a processor: half a second of work takes five."""
    program = (
        "import time; a = time.monotonic()\nwhile time.process_time() < .3: pass\nprint(time.monotonic() - a)"
    )
    with pressed(_here("cpu=0.1"), (sys.executable, "-c", program)) as command:
        assert float(subprocess.run(command, capture_output=True, check=True).stdout) > 1.5
