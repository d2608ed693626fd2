"""`tape.record.store`: both connections that write a tape do the same."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from faultwire import _core
from faultwire._core import TapeLog
from faultwire.tape.format import file
from faultwire.tape.record import shared_sqlite
from faultwire.tape.record.store import InterpreterStore, Store, open_store

STORES = [open_store, InterpreterStore]
COUNTS = """
import sqlite3, sys
reader = sqlite3.connect(sys.argv[1])
print(reader.execute("SELECT count(*) FROM events").fetchone()[0])
reader.close()
"""


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "t.tape"
    file.create(path, lambda _: None)
    return path


def filled(*bodies: bytes) -> TapeLog:
    log = TapeLog()
    for body in bodies:
        log.append("s", b'{"body":"%s"}' % log.put(body).encode())
    return log


def kept(path: Path) -> tuple[int, int]:
    """How many events and blobs a reader finds."""
    with closing(sqlite3.connect(path)) as reader:
        (events,) = reader.execute("SELECT count(*) FROM events").fetchone()
        (blobs,) = reader.execute("SELECT count(*) FROM blobs").fetchone()
    return events, blobs


def test_the_core_writes_where_it_can(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_store(tape)) as store:
        assert isinstance(store, _core.TapeStore)
    monkeypatch.setattr(shared_sqlite, "shared", lambda: False)
    with closing(open_store(tape)) as store:
        assert isinstance(store, InterpreterStore)


@pytest.mark.parametrize("opened", STORES)
def test_what_is_committed_is_there_for_everybody(tape: Path, opened: Callable[[Path], Store]) -> None:
    log = filled(b"one", b"two", b"one", b"x" * 9000)
    with closing(opened(tape)) as store:
        assert log.waits
        store.commit(log)
        assert not log.waits
        assert kept(tape) == (4, 3)
        log.append("s", b"{}")
        log.put(b"x" * 9000)  # known
        store.commit(log)
        assert kept(tape) == (5, 3)
        assert store.fold()
    assert list(tape.parent.iterdir()) == [tape]


@pytest.mark.parametrize("opened", STORES)
def test_a_commit_is_whole_or_not_there(tape: Path, opened: Callable[[Path], Store]) -> None:
    store = opened(tape)
    store.commit(filled(b"one"))
    log = filled(b"two", b"three")  # its first event has the number of one that is there
    with pytest.raises((OSError, sqlite3.Error), match=r"UNIQUE constraint failed: events\.seq"):
        store.commit(log)
    store.close()
    assert kept(tape) == (1, 1)


@pytest.mark.parametrize("opened", STORES)
def test_a_refusal_of_the_disk_is_named_as_sqlite_does(tape: Path, opened: Callable[[Path], Store]) -> None:
    with closing(opened(tape)) as store:
        store.execute("PRAGMA query_only=ON")
        with pytest.raises((OSError, sqlite3.Error)) as caught:
            store.commit(filled(b"one"))
        assert str(caught.value) == "attempt to write a readonly database"
    assert kept(tape) == (0, 0)


@pytest.mark.parametrize("opened", STORES)
def test_a_log_that_somebody_reads_is_left(tape: Path, opened: Callable[[Path], Store]) -> None:
    with closing(opened(tape)) as store, closing(sqlite3.connect(tape, isolation_level=None)) as reader:
        store.commit(filled(b"one"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        store.execute("PRAGMA busy_timeout=0")
        assert not store.fold()
        reader.execute("COMMIT")
        reader.close()
        assert store.fold()


@pytest.mark.parametrize("opened", STORES)
def test_each_setting_of_a_writer_is_made(tape: Path, opened: Callable[[Path], Store]) -> None:
    with closing(opened(tape)) as store, closing(sqlite3.connect(tape)) as reader:
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert reader.execute("PRAGMA page_size").fetchone() == (8192,)
        for name in ("synchronous", "temp_store"):
            # Only the connection itself knows: its check refuses another value than 2 (FULL, MEMORY).
            store.execute(f"CREATE TEMP TABLE {name}_is (x CHECK (x = 2))")
            store.execute(f"INSERT INTO {name}_is SELECT {name} FROM pragma_{name}")
        store.execute("PRAGMA synchronous=OFF")
        with pytest.raises((OSError, sqlite3.Error), match="CHECK"):
            store.execute("INSERT INTO synchronous_is SELECT synchronous FROM pragma_synchronous")


def test_a_commit_waits_without_the_interpreter(tape: Path) -> None:
    failures: list[BaseException] = []

    def commit() -> None:
        try:
            store.commit(filled(b"one"))
        except OSError as error:
            failures.append(error)

    with closing(open_store(tape)) as store, closing(sqlite3.connect(tape, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=commit)
        thread.start()
        # Were the interpreter held while it waits, nobody could let go of the lock before it gives up.
        other.execute("COMMIT")
        thread.join()
    assert failures == []
    assert kept(tape) == (1, 1)


def test_a_reader_in_the_same_process_leaves_the_locks_of_the_writer(tape: Path) -> None:
    """Two copies of SQLite would drop each other's locks: the next process then takes the log away."""
    log_file = file.log_of(tape)
    elsewhere = [sys.executable, "-c", COUNTS, str(tape)]
    with closing(open_store(tape)) as store:
        log = TapeLog()
        for number in range(1, 4):
            log.append("s", b"{}")
            store.commit(log)
            assert kept(tape) == (number, 0)  # opened and closed here
            before = log_file.stat().st_ino
            done = subprocess.run(elsewhere, capture_output=True, text=True, check=True)
            assert done.stdout == f"{number}\n"
            assert log_file.stat().st_ino == before


def test_a_closed_connection_writes_no_more(tape: Path) -> None:
    store = open_store(tape)
    store.close()
    store.close()
    with pytest.raises(ValueError, match="this tape is closed"):
        store.commit(filled(b"one"))


def test_an_event_that_is_none_is_refused() -> None:
    log = TapeLog()
    for event in (b"", b"[]", b'{"seq":1}', b'{"prev":""}'):
        with pytest.raises(ValueError, match="event"):
            log.append("s", event)
    assert (log.seq, log.waits, log.prev) == (0, False, "0" * 64)
