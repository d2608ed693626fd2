"""What can be read of a tape whose end is gone: `faultwire.tape.remains`."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.tape.conftest import Deck

from faultwire.errors import TapeTampered, TapeVersion
from faultwire.events import Recorded
from faultwire.tape.read import TapeReader
from faultwire.tape.remains import remains_of_cut

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
    remains_of_cut(cut, target)
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
    with sqlite3.connect(tmp_path / "later.tape") as connection:
        connection.execute("PRAGMA page_size=8192")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA application_id=0x46575450")
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(TapeVersion, match="has version 9"):
        left_of((tmp_path / "later.tape").read_bytes()[:9000], tmp_path, "none.tape")
    assert not (tmp_path / "none.tape").exists()
