"""What can be read of a tape whose end is gone: `faultwire.tape.read.partial`."""

from __future__ import annotations

import random
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.tape.conftest import Deck

from faultwire.errors import TapeTampered, TapeVersion
from faultwire.events import Recorded
from faultwire.tape.read.partial import partial_copy
from faultwire.tape.read.reader import TapeReader

Recording = Callable[[], tuple[bytes, list[Recorded]]]


@pytest.fixture
def recording(deck: Deck) -> Recording:
    """A file in which page after page is filled, and what was recorded."""

    def made() -> tuple[bytes, list[Recorded]]:
        for number in range(40):
            deck.exchange(random.Random(number).randbytes(700 * (number % 5 + 1)))
            deck.writer.flush()
        deck.writer.close_session("s")
        recorded = deck.read()
        return deck.path.read_bytes(), recorded

    return made


def same(one: Recorded, other: Recorded) -> bool:
    """All but how many such calls came before: that counts those that are there."""
    assert one.delivered is not None
    assert other.delivered is not None
    ours = (one.number, one.request, one.ending, one.faults, one.delivered.body)
    return ours == (other.number, other.request, other.ending, other.faults, other.delivered.body)


def left_of(data: bytes, folder: Path, name: str) -> list[Recorded]:
    cut, target = folder / "cut.tape", folder / name
    cut.write_bytes(data)
    partial_copy(cut, target)
    with TapeReader.open(target) as reader:
        found = list(reader.exchanges())
        for one in found:
            assert one.delivered is not None
            assert len(one.delivered.body) == 700 * ((one.number - 1) % 5 + 1)
        return found


def test_an_exchange_is_there_as_it_was_or_not_at_all(recording: Recording, tmp_path: Path) -> None:
    whole, recorded = recording()
    counts = []
    for left in range(8, 20):
        found = left_of(whole[: len(whole) * left // 20 - 1000], tmp_path, f"{left}.tape")
        assert all(same(one, recorded[one.number - 1]) for one in found)
        assert [one.number for one in found] == sorted({one.number for one in found})
        counts.append(len(found))
    assert counts == sorted(counts)
    assert 0 < counts[0] < 15
    assert 30 < counts[-1] < 40
    assert sorted(one.name for one in tmp_path.glob(".*")) == []


def test_a_body_that_was_changed_besides_takes_its_exchange_with_it(
    recording: Recording, tmp_path: Path
) -> None:
    whole, recorded = recording()
    body = random.Random(3).randbytes(2800)
    assert whole.count(body) == 1
    changed = whole.replace(body, body[:-1] + b"?")[: len(whole) * 9 // 10]
    before = left_of(whole[: len(whole) * 9 // 10], tmp_path, "before.tape")
    after = left_of(changed, tmp_path, "after.tape")
    assert [one.number for one in before if one.number not in {other.number for other in after}] == [4]
    assert same(before[3], recorded[3])


def test_what_says_too_little_is_refused(recording: Recording, tmp_path: Path) -> None:
    whole, _ = recording()
    with pytest.raises(TapeTampered, match="no exchange on it can be read"):
        left_of(whole[:8192], tmp_path, "none.tape")
    with closing(sqlite3.connect(tmp_path / "later.tape")) as connection, connection:
        connection.execute("PRAGMA page_size=8192")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA application_id=0x46575450")
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(TapeVersion, match="has version 9"):
        left_of((tmp_path / "later.tape").read_bytes()[:9000], tmp_path, "none.tape")
    assert not (tmp_path / "none.tape").exists()


def test_rows_up_to_the_last_number_there_is_do_not_lead_beyond_it(
    recording: Recording, tmp_path: Path
) -> None:
    """A file made to harm: its last events have the greatest numbers, and the page behind them is missing."""
    whole, recorded = recording()
    path, page, last = tmp_path / "odd.tape", 8192, (1 << 63) - 1
    path.write_bytes(whole)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = connection.execute("SELECT session, record, hash FROM events ORDER BY seq DESC").fetchone()
        for number in range(last - 59, last + 1):
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", (number, *row))
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'events'"
        (root,) = connection.execute(query).fetchone()
    data = bytearray(path.read_bytes())
    # The interior page of a table (SQLite file format, section 1.6): its last cell is made to name what was
    # the right-most page, and that one to be a page behind the end of the file.
    at, pages = (root - 1) * page, len(data) // page
    assert data[at] == 5
    (cells,) = struct.unpack_from(">H", data, at + 3)
    (cell,) = struct.unpack_from(">H", data, at + 12 + 2 * (cells - 1))
    data[at + cell : at + cell + 4] = data[at + 8 : at + 12]
    struct.pack_into(">I", data, at + 8, pages + 2)
    struct.pack_into(">I", data, 28, pages + 3)
    assert all(same(one, recorded[one.number - 1]) for one in left_of(bytes(data), tmp_path, "left.tape"))
