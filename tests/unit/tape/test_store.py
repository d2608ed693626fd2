from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import TapeError, UsageError
from faultwire.events import Exchange, Request
from faultwire.tape.intake import Intake
from faultwire.tape.read import TapeReader
from faultwire.tape.store import TapeWriter
from faultwire.tape.verify import verify


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_a_tape(deck: Any) -> None:
    deck.exchange()
    deck.writer.flush()
    assert mode(deck.path.parent) == 0o700
    assert {mode(path) for path in deck.path.parent.iterdir()} == {0o600}


def test_flush_counts_what_is_committed(deck: Any) -> None:
    assert deck.writer.flush() == 0
    for _ in range(5):
        deck.exchange()
    deck.begin()
    assert deck.writer.flush() == 5
    with TapeReader.open(deck.path) as reader:
        assert [r.ending for r in reader.exchanges()] == ["complete"] * 5 + ["open"]


def test_a_closed_tape_is_one_file(deck: Any) -> None:
    deck.exchange()
    deck.writer.close()
    deck.writer.close()
    assert list(deck.path.parent.iterdir()) == [deck.path]
    assert deck.writer.failed is None


def test_a_reader_does_not_keep_a_tape_from_closing(deck: Any) -> None:
    deck.exchange()
    deck.writer.flush()
    with TapeReader.open(deck.path) as reader:
        exchanges = reader.exchanges()
        assert next(exchanges).number == 1
        deck.writer.close()
        assert deck.writer.failed is None
    assert verify(deck.path).ok


def test_a_second_writer_is_refused(deck: Any) -> None:
    with pytest.raises(UsageError) as caught:
        TapeWriter.create(deck.path, origin="p/t", settings={})
    assert caught.value.code == "tape.exists"


@pytest.mark.parametrize("name", ["a b.tape", "..tape", "ü.tape", "x" * 65 + ".tape", "a\n.tape", "...tape"])
def test_names_outside_the_rule_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        TapeWriter.create(tmp_path / name, origin="p/t", settings={})
    assert caught.value.code == "tape.name"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_anybody_may_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(UsageError) as caught:
        TapeWriter.create(folder / "t.tape", origin="p/t", settings={})
    assert caught.value.code == "tape.folder"


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        TapeWriter.create(tmp_path / "file" / "t.tape", origin="p/t", settings={})


def test_a_session_is_opened_once(deck: Any) -> None:
    with pytest.raises(UsageError, match="session `s` is on the tape already"):
        deck.writer.open_session("s", profile="calm", profile_digest="", seed=1)


def test_sessions_say_who_and_how_many(deck: Any) -> None:
    deck.exchange()
    deck.writer.close_session("s")
    deck.read()
    with TapeReader.open(deck.path) as reader:
        (info,) = reader.sessions()
    assert (info.name, info.profile, info.seed, info.agent, info.exchanges) == ("s", "calm", 7, "a", 1)
    assert info.ended_ms is not None


def test_the_journal_names_what_is_safe(tmp_path: Path) -> None:
    journal = tmp_path / "events.jsonl"
    writer = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={}, journal=journal)
    request = Request("GET", "https", "h", 443, "/")
    first, second = (writer.record(Exchange("s", n, request)) for n in (1, 2))
    for recording in (first, second):
        recording.request(request)
    first.end("complete")
    writer.flush()
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert lines == [{"type": "acknowledged", "session": "s", "exchange": 1}]
    assert mode(journal) == 0o600
    writer.close()


def test_what_is_dropped_is_said(deck: Any) -> None:
    deck.writer.drop(Exchange("s", 9, Request("GET", "https", "h", 443, "/")), "the queue was full")
    deck.writer.close_session("s")
    deck.writer.close()
    report = verify(deck.path)
    assert report.ok
    assert [f.code for f in report.findings] == ["drop_present"]


def test_a_mistake_of_ours_fails_the_tape(deck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr("threading.excepthook", seen.append)
    deck.writer._intake.offer(object())  # no item that the writer knows
    deck.writer.flush()
    assert deck.writer.failed == "the writer stopped unexpectedly"
    assert len(seen) == 1
    deck.exchange()
    assert deck.writer.flush() == 0


def test_an_error_of_the_disk_fails_the_tape_for_good(deck: Any) -> None:
    deck.exchange()
    deck.writer.flush()
    deck.writer._connection.execute("PRAGMA query_only=ON")  # every further write is refused
    deck.exchange()
    assert deck.writer.flush() == 1
    assert deck.writer.failed == "attempt to write a readonly database"
    deck.exchange()
    assert deck.writer.flush() == 1
    assert verify(deck.path).exchanges == 1


def test_an_unwritable_journal_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(TapeError) as caught:
        TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={}, journal=tmp_path / "no" / "x.jsonl")
    assert caught.value.code == "tape.create"


async def test_room_waits_for_the_writer() -> None:
    intake = Intake(limit=10)
    intake.offer("item")
    intake.add(10)
    waiting = asyncio.ensure_future(intake.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert await asyncio.get_running_loop().run_in_executor(None, intake.gather, 0.0) == ["item"]
    intake.took(10)
    await asyncio.wait_for(waiting, 5)
    assert intake.behind == 0


async def test_nobody_waits_for_a_writer_that_is_gone() -> None:
    intake = Intake(limit=1)
    intake.add(5)
    waiting = asyncio.ensure_future(intake.room())
    await asyncio.sleep(0)
    intake.abandon()
    await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(intake.room(), 5)


async def test_there_is_room_as_a_rule(deck: Any) -> None:
    deck.exchange()
    await asyncio.wait_for(deck.writer.room(), 5)
    deck.writer.flush()
    assert deck.writer.behind == 0
