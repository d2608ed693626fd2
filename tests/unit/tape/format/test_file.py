"""Reading a tape that says that it has a log, and has none, leaves nothing beside it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import connect_reader, connect_writer, log_of
from faultwire.tape.read.reader import TapeReader

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL").fetchone()
connection.execute("SELECT count(*) FROM events").fetchone()
print("open", flush=True)
sys.stdin.read()
connection.execute("UPDATE events SET session = session WHERE seq = 0")
print(connection.execute("PRAGMA integrity_check").fetchone()[0], flush=True)
"""
"""A writer in a process of its own, which writes once it is told to."""


@pytest.fixture
def logged(closed: Callable[[], Path]) -> Path:
    """A tape whose writer did not fold its log: the file says that there is one, beside it is nothing."""
    path = closed()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    assert beside(path) == []
    return path


def beside(path: Path) -> list[str]:
    return sorted(one.name.removeprefix(path.name) for one in path.parent.glob(f"{path.name}-*"))


def read(path: Path) -> int:
    with TapeReader.open(path) as reader:
        return len(list(reader.exchanges()))


@contextmanager
def opened_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = (sys.executable, "-c", HOLD, str(path))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process


def test_whoever_only_reads_leaves_a_log_behind(logged: Path) -> None:
    """The control: SQLite by itself."""
    uri = f"{logged.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM events").fetchone() == (1,)
    assert beside(logged) == ["-shm", "-wal"]
    assert log_of(logged).stat().st_size == 0


def test_a_reader_leaves_no_log_and_every_byte_as_it_was(logged: Path) -> None:
    before = logged.read_bytes(), logged.stat().st_mtime_ns
    assert read(logged) > 0
    assert verify(logged).events > 0
    assert beside(logged) == []
    assert (logged.read_bytes(), logged.stat().st_mtime_ns) == before


def test_an_empty_log_that_another_reader_left_is_removed_too(logged: Path) -> None:
    test_whoever_only_reads_leaves_a_log_behind(logged)
    assert read(logged) > 0
    assert beside(logged) == []


def test_of_two_readers_the_last_one_removes_it(logged: Path) -> None:
    with closing(connect_reader(logged)) as first:
        assert read(logged) > 0
        assert beside(logged) == ["-shm", "-wal"]
        assert first.execute("SELECT count(*) > 0 FROM events").fetchone() == (1,)
    assert beside(logged) == []


def test_the_log_of_a_writer_stays_where_it_is(logged: Path) -> None:
    with opened_elsewhere(logged) as writer:
        inode = log_of(logged).stat().st_ino
        assert read(logged) > 0
        assert log_of(logged).stat().st_ino == inode
        said, _ = writer.communicate()
    assert said == "ok\n"
    assert read(logged) > 0


def test_the_log_of_a_writer_in_this_process_stays_where_it_is(logged: Path) -> None:
    with closing(connect_writer(logged)) as writer:
        log = log_of(logged).stat()
        assert log.st_size == 0, "it is empty, and somebody is about to write it"
        assert read(logged) > 0
        assert log_of(logged).stat().st_ino == log.st_ino
        writer.execute("UPDATE events SET session = session WHERE seq = 0")
        assert log_of(logged).stat().st_size > 0
        assert writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert beside(logged) == []


def test_a_log_that_holds_something_stays_and_is_read(logged: Path) -> None:
    """That of a writer that was killed, which is part of what there is to see."""
    with closing(sqlite3.connect(logged, isolation_level=None)) as writer:
        writer.execute("UPDATE events SET session = session WHERE seq = 0")
        kept = {one: one.read_bytes() for one in logged.parent.glob(f"{logged.name}*")}
    for path, data in kept.items():
        path.write_bytes(data)
    assert log_of(logged).stat().st_size > 0
    assert read(logged) > 0
    assert log_of(logged).read_bytes() == kept[log_of(logged)]
    assert logged.read_bytes() == kept[logged]


def test_no_journal_that_somebody_puts_there_meanwhile_is_rolled_back(logged: Path) -> None:
    reader = connect_reader(logged)
    journal = logged.with_name(logged.name + "-journal")
    journal.write_bytes(b"x" * 512)
    reader.close()
    assert journal.read_bytes() == b"x" * 512
    assert log_of(logged).exists()


def test_a_tape_that_is_gone_is_not_made_anew(logged: Path) -> None:
    reader = connect_reader(logged)
    logged.unlink()
    reader.close()
    reader.close()
    assert not logged.exists()
    assert log_of(logged).exists()
