"""What one look shows, for all watches that share a process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.capture.test_processes import Fake

from faultwire.capture.bypass import OutboundSocket
from faultwire.capture.bypass_watch import BypassWatch, InvocationWatch
from faultwire.capture.processes import ProcFs
from faultwire.capture.snapshot import ProcessSockets, SocketSnapshot
from faultwire.events import Bypass

FAR, PROXY = Bypass("203.0.113.5", 443), Bypass("127.0.0.1", 8080)
RESOLVER = Bypass("203.0.113.6", 443, "udp")


class Counting(ProcFs):
    """Counts what is asked of the kernel."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked: list[str] = []

    def sockets(self, pid: int) -> frozenset[int] | None:
        self.asked.append(f"sockets {pid}")
        return super().sockets(pid)

    def space(self, pid: int) -> str:
        self.asked.append(f"space {pid}")
        return super().space(pid)


def watch(**mine: int) -> InvocationWatch:
    made = BypassWatch(ProcFs(Path("/nowhere"))).watch()
    made.mine |= {int(pid.removeprefix("p")): started for pid, started in mine.items()}
    return made


def test_what_a_process_has_connected_is_distinguished_from_what_was_connected_to_it() -> None:
    each = [
        OutboundSocket(1, 40001, FAR),
        OutboundSocket(2, 9000, Bypass("203.0.113.7", 5)),
        OutboundSocket(3, 40002, PROXY),
    ]
    each += [
        OutboundSocket(4, 40003, PROXY),
        OutboundSocket(5, 40004, Bypass("203.0.113.8", 53)),
        OutboundSocket(6, 40005, RESOLVER),
    ]
    sights = SocketSnapshot(each, {9000})
    assert sights.settled == {1, 2, 3, 4, 5}
    assert sights.outward == {FAR: {1}, PROXY: {3, 4}}
    assert sights.udp == [OutboundSocket(6, 40005, RESOLVER)]


def test_each_watch_takes_what_is_its_own() -> None:
    sights = SocketSnapshot(
        [OutboundSocket(1, 40001, FAR), OutboundSocket(2, 40002, PROXY), OutboundSocket(3, 40003, RESOLVER)],
        set(),
    )
    one, other = watch(), watch()
    one.note(sights, {1, 9})
    other.note(sights, {2, 3})
    assert (one.found, other.found) == ((FAR,), (PROXY,))
    other.note(sights, {3})
    assert other.found == (PROXY, RESOLVER)
    assert (one.unsettled({1, 2, 9}), other.unsettled({2, 3})) == ({2, 9}, {3})


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def test_a_process_is_asked_once_for_all_watches(fake: Fake) -> None:
    fake.add(100, 50, 1000, 7, 8)
    (fake.root / "100" / "ns").mkdir()
    (fake.root / "100" / "ns" / "net").symlink_to("net:[1]")
    procs = Counting(fake.root)
    one, other, done = watch(p100=1000), watch(p100=1000), watch(p100=1000)
    other.settle({7})
    done.settle({7, 8})
    held = ProcessSockets(procs)
    assert held.unsettled(one) == {"net:[1]": (100, {7, 8})}
    assert held.unsettled(other) == {"net:[1]": (100, {8})}
    assert held.unsettled(done) == {}
    assert procs.asked == ["sockets 100", "space 100"]


def test_a_number_that_was_given_again_meanwhile_is_nobodys(fake: Fake) -> None:
    fake.add(100, 50, 2000, 7)
    held = ProcessSockets(ProcFs(fake.root))
    assert held.unsettled(watch(p100=1000)) == {}
    assert held.unsettled(watch(p100=2000)) == {"": (100, {7})}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_process_whose_sockets_may_not_be_seen_is_reported(fake: Fake) -> None:
    fake.add(100, 50, 1000, 7)
    (fake.root / "100" / "fd").chmod(0)
    made = watch(p100=1000)
    assert ProcessSockets(ProcFs(fake.root)).unsettled(made) == {}
    assert made.unread == {100}
