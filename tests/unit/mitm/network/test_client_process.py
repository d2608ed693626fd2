"""Whose a socket is, by a `/proc` of our own making; the real one is in tests/e2e/exec."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.mitm.network import peer_user
from faultwire.mitm.network.client_process import Process, Processes, inode_at

THEIRS, OURS = ("127.0.0.1", 50000), ("127.0.0.1", 4000)
TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:C350 0100007F:0FA0 {state} 00000000:00000000 00:00000000 00000000  1234        0 {inode} 1
"""


def process(proc: Path, pid: int, *sockets: int, program: str = "/usr/bin/agent") -> None:
    (proc / str(pid) / "fd").mkdir(parents=True)
    (proc / str(pid) / "exe").symlink_to(program)
    for number, inode in enumerate(sockets):
        (proc / str(pid) / "fd" / str(number)).symlink_to(f"socket:[{inode}]")


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(peer_user, "KNOWN", True)
    process(tmp_path, 10, 1, 2)
    process(tmp_path, 11, 3, program="/usr/bin/other")
    (tmp_path / "version").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("inode", "found"),
    [(2, Process(10, "/usr/bin/agent")), (3, Process(11, "/usr/bin/other")), (4, None), (None, None)],
)
def test_the_process_that_has_the_socket(
    inode: int | None, found: Process | None, proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_user, "inode_of", lambda *_: inode)
    processes = Processes(str(proc))
    assert processes.of(THEIRS, OURS) == found
    assert processes.of(THEIRS, OURS) == found  # asked first this time


def test_on_a_system_that_does_not_know_nobody_is_named(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise OSError("sock_diag refused")

    monkeypatch.setattr(peer_user, "inode_of", refused)
    assert Processes(str(proc)).of(THEIRS, OURS) is None
    monkeypatch.setattr(peer_user, "inode_of", lambda *_: 2)
    monkeypatch.setattr(peer_user, "KNOWN", False)
    assert Processes(str(proc)).of(THEIRS, OURS) is None


def test_in_another_network_namespace_its_own_end_is_looked_for(proc: Path) -> None:
    for pid, space, inode in ((10, "ours", 2), (11, "theirs", 3), ("self", "ours", 0)):
        (proc / str(pid) / "ns").mkdir(parents=True)
        (proc / space).touch()
        (proc / str(pid) / "ns" / "net").symlink_to(proc / space)
        (proc / str(pid) / "net").mkdir()
        (proc / str(pid) / "net" / "tcp").write_text(TABLE.format(state="01", inode=inode))
        (proc / str(pid) / "net" / "tcp6").write_text("")
    assert Processes(str(proc)).of(THEIRS, OURS, apart=True) == Process(11, "/usr/bin/other")
    assert Processes(str(proc)).of(("127.0.0.1", 50001), OURS, apart=True) is None


@pytest.mark.parametrize(("state", "inode", "found"), [("01", 777, 777), ("01", 0, None), ("06", 777, None)])
def test_a_socket_counts_while_it_is_open(state: str, inode: int, found: int | None) -> None:
    table = TABLE.format(state=state, inode=inode).splitlines()
    assert inode_at(table, THEIRS, version6=False) == found
