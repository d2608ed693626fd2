"""Families of processes and their sockets, on a `/proc` made of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire.capture.bypass_watch import local_sockets
from faultwire.capture.processes import ProcFs, Stat


class Fake:
    """A `/proc` to write."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.add(os.getpid(), 1, 1)
        (root / "self").symlink_to(str(os.getpid()))

    def add(self, pid: int, parent: int, started: int, *sockets: int, name: str = "python", state: str = "S"):
        folder = self.root / str(pid)
        (folder / "fd").mkdir(parents=True, exist_ok=True)
        between = " ".join("0" * 17)
        (folder / "stat").write_text(f"{pid} ({name}) {state} {parent} {between} {started} 0 0\n")
        for at, inode in enumerate(sockets):
            (folder / "fd" / str(at + 3)).symlink_to(f"socket:[{inode}]")

    def end(self, pid: int) -> None:
        for path in sorted((self.root / str(pid)).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        (self.root / str(pid)).rmdir()


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def family(procs: ProcFs, mine: dict[int, int]) -> list[int]:
    procs.refresh()
    procs.family(mine)
    return sorted(mine)


def test_a_family_is_whom_its_members_started(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    fake.add(103, 100, 1001)
    fake.add(101, 103, 1002)  # a lower number than its parent's
    fake.add(200, 50, 1003)
    assert family(procs, mine := {100: 1000}) == [100, 101, 103]
    fake.add(104, 101, 1004)
    assert family(procs, mine) == [100, 101, 103, 104]


def test_one_whose_parent_ended_stays_and_so_do_its_children(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    fake.add(101, 100, 1001)
    assert family(procs, mine := {100: 1000}) == [100, 101]
    fake.end(100)
    fake.add(101, 1, 1001)  # it has got another parent
    fake.add(102, 101, 1002)
    assert family(procs, mine) == [101, 102]


def test_a_number_that_was_given_again_is_another_process(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    assert family(procs, mine := {100: 1000}) == [100]
    fake.end(100)
    assert family(procs, mine) == []
    fake.add(100, 50, 2000)
    assert family(procs, {100: 1000}) == []
    assert procs.is_still(100, 2000)
    assert not procs.is_still(100, 1000)
    assert not procs.is_still(999, 1000)


def test_a_child_is_not_older_than_its_parent(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(90, 100, 500)  # of an earlier process with this number
    fake.add(100, 50, 1000)
    assert family(procs, {100: 1000}) == [100]


def test_what_was_known_can_be_forgotten(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    procs.refresh()
    fake.add(100, 60, 2000)
    assert family(procs, {100: 2000}) == []  # nobody looked again
    procs.forget(100)
    assert family(procs, {100: 2000}) == [100]
    procs.forget()
    assert family(procs, {100: 2000}) == [100]


def test_names_with_parentheses_and_broken_files(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000, name="a) R 1 (b c")
    assert procs.stat(100) == Stat(50, 1000, "S")
    for text in ("", "1", "100 (x", "100 (x) S y", "100 (x) S 1 2 3"):
        (fake.root / "100" / "stat").write_text(text)
        assert procs.stat(100) is None
    assert procs.stat(999) is None


def test_sockets_by_inode(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000, 7, 8)
    fd = fake.root / "100" / "fd"
    for name, target in (("0", "/dev/pts/1"), ("1", "pipe:[9]"), ("2", "socket:[x]"), ("9", "socket:[]")):
        (fd / name).symlink_to(target)
    assert procs.sockets(100) == {7, 8}
    assert procs.sockets(999) == frozenset()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_process_that_may_not_be_seen_is_distinguished_from_one_that_has_nothing(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    (fake.root / "100" / "fd").chmod(0)
    assert procs.sockets(100) is None
    fake.add(100, 50, 1000, state="Z")
    assert procs.sockets(100) == frozenset()


def test_tables_and_network_namespaces(fake: Fake) -> None:
    procs = ProcFs(fake.root)
    fake.add(100, 50, 1000)
    assert (procs.table(100, "tcp"), procs.space(100)) == ("", "")
    (fake.root / "100" / "net").mkdir()
    (fake.root / "100" / "net" / "tcp").write_bytes(b"heading\n\xff\n")
    (fake.root / "100" / "ns").mkdir()
    (fake.root / "100" / "ns" / "net").symlink_to("net:[4026531840]")
    assert procs.table(100, "tcp") == "heading\n\ufffd\n"
    assert procs.space(100) == "net:[4026531840]"


def test_a_system_without_it(tmp_path: Path, fake: Fake) -> None:
    assert ProcFs(fake.root).readable
    (fake.root / "self").unlink()
    (fake.root / "self").symlink_to("1")  # it shows the processes of somebody else
    assert not ProcFs(fake.root).readable
    nothing = ProcFs(tmp_path / "nowhere")
    assert not nothing.readable
    nothing.refresh()
    assert family(nothing, {100: 1000}) == []


def test_sockets_of_this_machine_only() -> None:
    text = (
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "000000002d36f3bc: 00000002 00000000 00010000 0001 01 18433 /run/dbus/a socket\n"
        "000000002d36f3bd: 00000003 00000000 00000000 0001 03 18434\n"
        "000000002d36f3be: 00000003 00000000 00000000 0001 03 x\n"
        "short\n"
    )
    assert local_sockets(text) == {18433, 18434}
    assert local_sockets("") == set()
