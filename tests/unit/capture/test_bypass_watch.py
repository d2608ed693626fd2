"""Looking, once at a time, at a `/proc` made of files; the thread itself is seen in the end-to-end tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.unit.capture.test_bypass import HEAD, line
from tests.unit.capture.test_processes import Fake

from faultwire import clock
from faultwire.capture.bypass import OutboundSocket, SocketTable
from faultwire.capture.bypass_watch import BLIND, EVERY_S, KEPT, BypassWatch, InvocationWatch, _started
from faultwire.capture.processes import ProcFs
from faultwire.capture.snapshot import SocketSnapshot
from faultwire.events import Bypass

SPACE = "net:[1]"
HERE = "0100007F:8568"
FAR = "057100CB:01BB"


class World(Fake):
    """A `/proc` with one network namespace, in which we are ourselves."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.tables = {"tcp": "", "udp": "", "unix": ""}

    def say(self, **tables: str) -> None:
        self.tables |= tables
        for folder in (one for one in self.root.iterdir() if not one.is_symlink()):
            (folder / "net").mkdir(exist_ok=True)
            (folder / "ns").mkdir(exist_ok=True)
            (folder / "ns" / "net").unlink(missing_ok=True)
            (folder / "ns" / "net").symlink_to(SPACE)
            for name, text in self.tables.items():
                (folder / "net" / name).write_text(HEAD + text)


def no_netlink(_asked: frozenset[int]) -> SocketTable:
    raise OSError("netlink has no answer")


def begun(world: World, lookout: BypassWatch, pid: int = 100) -> InvocationWatch:
    """A watch on a process that nobody looks at but the test."""
    watch = lookout.watch()
    stat = lookout._procs.stat(pid)
    assert stat is not None
    watch.mine[pid] = stat.started
    return watch


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.add(100, 50, 1000, 7)
    return made


@pytest.fixture
def lookout(world: World) -> BypassWatch:
    return BypassWatch(ProcFs(world.root), no_netlink)


def texts(watch: InvocationWatch) -> list[str]:
    return [one.text for one in watch.found]


def test_a_connection_of_the_family_is_found_and_no_other(world: World, lookout: BypassWatch) -> None:
    world.add(101, 100, 1001, 8)
    world.add(200, 50, 1002, 9)
    tables = line(HERE, FAR, "01", 7) + line(HERE, "067100CB:0050", "02", 8)
    world.say(tcp=tables + line(HERE, "077100CB:0050", "01", 9))
    watch = begun(world, lookout)
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.5:443", "203.0.113.6:80"]
    assert (watch.looks, watch.more, watch.unread) == (1, 0, set())


def test_one_that_somebody_else_opened_to_it_is_none(world: World, lookout: BypassWatch) -> None:
    listener = line("00000000:1F90", "00000000:0000", "0A", 6)
    world.say(tcp=listener + line("0100007F:1F90", FAR, "01", 7))
    watch = begun(world, lookout)
    lookout.look([watch])
    assert texts(watch) == []


def test_what_is_settled_is_not_looked_up_again(world: World) -> None:
    asked = []

    def tables(inodes: frozenset[int]) -> SocketTable:
        assert inodes <= {7, 70, 71}
        asked.append(len(asked))
        return SocketTable(open=[OutboundSocket(7, 34152, Bypass("203.0.113.5", 443))])

    world.say(unix="0: 2 0 0 1 1 70 /x\n")
    lookout = BypassWatch(ProcFs(world.root), tables)
    watch = begun(world, lookout)
    for _ in range(3):
        lookout.look([watch])
    assert (texts(watch), asked) == (["203.0.113.5:443"], [0])
    (world.root / "100" / "fd" / "9").symlink_to("socket:[70]")  # a socket of this machine
    lookout.look([watch])
    assert asked == [0]
    (world.root / "100" / "fd" / "10").symlink_to("socket:[71]")  # one that is not connected yet
    lookout.look([watch])
    lookout.look([watch])
    assert asked == [0, 1, 2]
    other = begun(world, lookout)  # another invocation of the same server sees what is still open
    lookout.look([watch, other])
    assert texts(other) == ["203.0.113.5:443"]
    assert (asked, watch.looks, other.looks) == ([0, 1, 2, 3], 7, 1)


def test_where_netlink_does_not_answer_the_files_do(world: World, lookout: BypassWatch) -> None:
    world.say(tcp=line(HERE, FAR, "01", 7))
    watch = begun(world, lookout)
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.5:443"]
    assert lookout._tables is None


def test_of_another_network_namespace_only_the_files_show(world: World) -> None:
    def ours(_asked: frozenset[int]) -> SocketTable:
        raise AssertionError("it tells of our own namespace")

    lookout = BypassWatch(ProcFs(world.root), ours)
    world.say(tcp=line(HERE, FAR, "01", 7))
    (world.root / "100" / "ns" / "net").unlink()
    (world.root / "100" / "ns" / "net").symlink_to("net:[2]")
    watch = begun(world, lookout)
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.5:443"]


def test_udp_counts_at_second_sight_of_the_same_socket(world: World, lookout: BypassWatch) -> None:
    world.say(udp=line(HERE, FAR, "01", 7))
    watch = begun(world, lookout)
    lookout.look([watch])
    assert texts(watch) == []
    world.say(udp=line(HERE, "067100CB:01BB", "01", 7))  # a resolver asks which address would be used
    lookout.look([watch])
    assert texts(watch) == []
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.6:443/udp"]
    world.say(udp=line(HERE, "057100CB:0035", "01", 7))  # a name server
    lookout.look([watch])
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.6:443/udp"]


def test_who_left_the_family_is_still_of_it_and_a_namesake_is_not(world: World, lookout: BypassWatch) -> None:
    world.add(101, 100, 1001)
    watch = begun(world, lookout)
    lookout.look([watch])
    world.end(100)
    world.end(101)
    world.add(101, 1, 1001, 8)
    world.say(tcp=line(HERE, FAR, "01", 8))
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.5:443"]
    world.end(101)
    world.add(101, 1, 5000, 9)  # the number was given again, before anybody looked
    world.say(tcp=line(HERE, "067100CB:01BB", "01", 9))
    lookout.look([watch])
    assert texts(watch) == ["203.0.113.5:443"]


def test_addresses_beyond_a_bound_are_counted(world: World, lookout: BypassWatch) -> None:
    watch = begun(world, lookout)
    each = [OutboundSocket(at, 1, Bypass(f"198.18.{at >> 8}.{at & 255}", 443)) for at in range(KEPT + 3)]
    watch.note(SocketSnapshot(each, set()), set(range(KEPT + 3)))
    assert (len(watch.found), watch.more) == (KEPT, 3)


def test_a_system_that_shows_nothing_reports_that(tmp_path: Path) -> None:
    watch = BypassWatch(ProcFs(tmp_path / "nowhere")).watch()
    with watch(os.getpid()):
        pass
    assert (watch.blind, watch.looks, watch.found) == (BLIND, 0, ())


def test_a_process_that_is_gone_is_not_watched(world: World, lookout: BypassWatch) -> None:
    watch = lookout.watch()
    with watch(999):
        pass
    assert (watch.blind, watch.looks, lookout._thread) == (None, 0, None)


def test_a_watch_looks_at_least_once_and_its_thread_ends(world: World, lookout: BypassWatch) -> None:
    world.say(tcp=line(HERE, FAR, "01", 7))
    watch = lookout.watch()
    with watch(100):
        thread = lookout._thread
        assert thread is not None
    thread.join(10)
    assert not thread.is_alive()
    assert texts(watch) == ["203.0.113.5:443"]
    assert watch.looks >= 1
    assert lookout._thread is None


def test_what_we_have_open_ourselves_is_not_the_agents(world: World, lookout: BypassWatch) -> None:
    world.add(os.getpid(), 1, 1, 7)
    world.say(tcp=line(HERE, FAR, "01", 7))
    watch = lookout.watch()
    with watch(100):
        pass
    assert watch.looks >= 1
    assert texts(watch) == []


def test_no_signal_reaches_the_thread() -> None:
    masks = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    thread = _started(lambda: masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, set())))
    thread.join()
    blockable = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    # glibc keeps two signals for itself, which no program may block
    assert blockable - masks[0] <= {32, 33}
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before


def test_a_server_that_stays_is_looked_at_once_for_all_who_ask_it(world: World, lookout: BypassWatch) -> None:
    one, other = begun(world, lookout), begun(world, lookout)
    for watch in (one, other):
        watch.pid = 100
        lookout._active.append(watch)
    began = clock.monotonic()
    lookout.end(one)
    lookout.end(other)
    assert (one.looks, other.looks) == (1, 1)
    assert lookout._due >= began + EVERY_S  # nor has the thread to look again at once


def test_after_a_process_that_is_gone_there_is_a_last_look(world: World, lookout: BypassWatch) -> None:
    gone = begun(world, lookout)
    gone.looks = 1  # nobody looks at a server again
    lookout._active.append(gone)
    lookout.end(gone)
    assert gone.looks == 2
