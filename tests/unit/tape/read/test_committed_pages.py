"""What is read beside SQLite is what it committed: in the file, in its log, and after the log began anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from faultwire.tape.format import file
from faultwire.tape.read.committed_pages import PAGE, CommittedPages


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "a.tape"
    file.create(path, lambda _: None)
    return path


def add(writer: sqlite3.Connection, number: int) -> None:
    row = (number.to_bytes(32), 30_000, 0, bytes([number % 256]) * 30_000)
    writer.execute("INSERT INTO blobs VALUES (?, ?, ?, ?)", row)


def whole(pages: CommittedPages) -> bytes:
    return pages.read(1, pages.look())


def committed(path: Path) -> bytes:
    """All pages, as SQLite itself gives them."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as reader:
        return bytes(reader.serialize())


def test_each_commit_is_seen_also_over_checkpoints(tape: Path) -> None:
    pages, writer = CommittedPages(tape), file.connect_writer(tape)
    writer.execute("PRAGMA wal_autocheckpoint=40")
    sizes = []
    for number in range(120):
        writer.execute("BEGIN")
        add(writer, number)
        writer.execute("COMMIT")
        if number % 7 == 0:
            assert whole(pages) == committed(tape)
            sizes.append(tape.stat().st_size)
    assert len(set(sizes)) > 3, "the log was folded in several times"
    assert (tape.with_name("a.tape-wal")).stat().st_size > PAGE
    writer.close()
    assert whole(pages) == tape.read_bytes()
    pages.close()


def test_what_is_not_committed_is_not_seen(tape: Path) -> None:
    pages, writer = CommittedPages(tape), file.connect_writer(tape)
    add_all(writer, range(20))
    before = whole(pages)
    writer.execute("PRAGMA cache_size=1")  # what does not fit goes to the log before its commit
    writer.execute("BEGIN")
    writer.execute("UPDATE blobs SET size = size + 1")  # of pages that are there
    for number in range(20, 60):
        add(writer, number)
    assert tape.with_name("a.tape-wal").stat().st_size > 60 * 30_000, "it is in the log"
    assert whole(pages) == before
    writer.execute("COMMIT")
    assert whole(pages) == committed(tape) != before
    writer.close()
    pages.close()


def add_all(writer: sqlite3.Connection, numbers: range) -> None:
    writer.execute("BEGIN")
    for number in numbers:
        add(writer, number)
    writer.execute("COMMIT")


def test_frames_that_an_earlier_log_left_are_not_taken_for_new_ones(tape: Path) -> None:
    pages, writer = CommittedPages(tape), file.connect_writer(tape)
    add_all(writer, range(60))
    assert whole(pages) == committed(tape)
    writer.execute("PRAGMA wal_checkpoint(RESTART)")
    add_all(writer, range(60, 62))  # overwrites the beginning of the log
    assert whole(pages) == committed(tape)
    writer.close()
    pages.close()


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CommittedPages(tmp_path / "none.tape")
