from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import TapeError, UsageError
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.fault_ledger import ledger_hash
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record import body as bodies
from faultwire.tape.record.body import MAX_HELD
from faultwire.tape.record.file_watch import FileWatch
from faultwire.tape.record.queue import WriteQueue
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

KEY = b"k" * 32
LINE = FaultFired("status", "status", "response", "fired", "rolled 0.1", "key", 0, 0, 0.1)


def test_a_seal_that_a_removed_tape_left_behind_says_nothing_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "t.tape"
    key = SignerKey("p", b"s" * 32)
    for sealed in (True, False):
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=key)
        writer.open_session("s", profile="calm", profile_digest="d", seed=7)
        if sealed:
            writer.close_session("s")
            writer.close()
            path.unlink()
            assert seal_path(path).exists()
    writer.flush()
    assert not seal_path(path).exists()
    assert verify(path, (key.verifier,)).ok  # while it is written
    writer.close()
    assert verify(path, (key.verifier,), demanded=True).ok
    with pytest.raises(UsageError, match="exists"):
        TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    assert seal_path(path).exists(), "that of a tape which is there stays"


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


async def test_an_event_loop_waits_for_the_disk_without_a_thread_that_waits_for_it(deck: Any) -> None:
    for _ in range(5):
        deck.exchange()
    assert await asyncio.wait_for(deck.writer.flushed(), 5) == 5
    with TapeReader.open(deck.path) as reader:
        assert [r.ending for r in reader.exchanges()] == ["complete"] * 5
    both = asyncio.gather(deck.writer.flushed(), deck.writer.flushed())
    assert await asyncio.wait_for(both, 5) == [5, 5]
    deck.writer.close()
    assert await asyncio.wait_for(deck.writer.flushed(), 5) == 5  # nobody waits for a writer that is gone


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


def test_sessions_state_who_and_how_many(deck: Any) -> None:
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


def test_what_is_dropped_is_reported(deck: Any) -> None:
    deck.writer.drop(Exchange("s", 9, Request("GET", "https", "h", 443, "/")), "the queue was full")
    deck.writer.close_session("s")
    deck.writer.close()
    report = verify(deck.path)
    assert report.ok
    assert [f.code for f in report.findings] == ["drop_present", "seal_missing"]


def test_a_mistake_of_ours_fails_the_tape(deck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr("threading.excepthook", seen.append)
    deck.writer._intake.offer(object())  # no item that the writer knows
    deck.writer.flush()
    assert deck.writer.failed == "the writer failed with AttributeError"
    assert seen == []
    deck.exchange()
    assert deck.writer.flush() == 0


def test_a_thread_that_ends_in_silence_fails_the_tape(deck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(items: list[Any]) -> bool:
        raise SystemExit

    monkeypatch.setattr("threading.excepthook", lambda _: None)
    monkeypatch.setattr(deck.writer, "_batch", ends)
    for _ in range(2):  # the thread may wait for the first one already
        deck.exchange()
        deck.writer.flush()
    assert deck.writer.failed == "the writer thread ended"


def test_a_mistake_of_ours_shows_no_traffic(deck: Any, capfd: pytest.CaptureFixture[str]) -> None:
    deck.writer._intake.offer({"type": "note", "text": {1, "hunter2"}})  # a set is no JSON
    deck.writer.flush()
    deck.writer.close()
    assert deck.writer.failed is not None
    assert deck.writer.failed.startswith("the writer failed with ")
    assert "hunter2" not in deck.writer.failed
    assert capfd.readouterr() == ("", "")


def test_a_failure_while_closing_is_one(deck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_back(*_: object) -> None:
        raise ValueError("hunter2")

    monkeypatch.setattr(FileWatch, "read_back", read_back)
    deck.exchange()
    deck.writer.close()
    assert deck.writer.failed == "the writer failed with ValueError"


def test_a_failed_tape_holds_nothing_more(deck: Any) -> None:
    recording = deck.begin()
    deck.writer.flush()
    deck.writer._intake.offer(object())
    deck.writer.flush()
    recording.upstream_chunk(b"x" * 1_000_000)
    assert (recording.up, deck.writer.behind) == ([], deck.writer.behind)
    assert len(deck.writer._intake._items) == 0


def test_an_error_of_the_disk_fails_the_tape_for_good(deck: Any) -> None:
    deck.exchange()
    deck.writer.flush()
    deck.writer._store.execute("PRAGMA query_only=ON")  # every further write is refused
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
    intake = WriteQueue(limit=10)
    intake.offer("item")
    intake.offered += 10
    waiting = asyncio.ensure_future(intake.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert await asyncio.get_running_loop().run_in_executor(None, intake.gather, 0.0) == ["item"]
    intake.took(10)
    await asyncio.wait_for(waiting, 5)
    assert intake.behind == 0


async def test_nobody_waits_for_a_writer_that_is_gone() -> None:
    intake = WriteQueue(limit=1)
    intake.offered += 5
    waiting = asyncio.ensure_future(intake.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    intake.abandon()
    await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(intake.room(), 5)


async def test_nobody_waits_for_what_a_writer_had_taken_when_it_failed() -> None:
    intake = WriteQueue()
    waiting = asyncio.ensure_future(intake.written())
    await asyncio.sleep(0)
    assert len(await asyncio.get_running_loop().run_in_executor(None, intake.gather, 0.0)) == 1
    assert not waiting.done()
    intake.abandon()
    await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(intake.written(), 5)
    assert intake._awaited == set()


async def test_there_is_room_as_a_rule(deck: Any) -> None:
    deck.exchange()
    await asyncio.wait_for(deck.writer.room(), 5)
    deck.writer.flush()
    assert deck.writer.behind == 0


async def test_a_writer_lags_where_there_is_no_room(deck: Any) -> None:
    intake = deck.writer._intake
    intake.offered += intake.limit - 1
    assert not deck.writer.lags
    await asyncio.wait_for(deck.writer.room(), 5)
    intake.offered += 1
    assert deck.writer.lags
    waiting = asyncio.ensure_future(deck.writer.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    intake.took(intake.limit)
    await asyncio.wait_for(waiting, 5)


def test_no_bare_key_of_an_exchange_is_on_the_tape(deck: Any) -> None:
    bare = "ab" * 32
    request = Request("POST", "https", "h", 443, "/", body=b"{}")
    line = replace(LINE, key=bare)
    recording = deck.writer.record(Exchange("s", 1, request, "llm", key=bare))
    recording.request(request)
    recording.end("complete", None, (line,))
    (found,) = deck.read()
    kept = Redactor(KEY).keyed(bare)
    assert found.faults[0].key == kept
    connection = sqlite3.connect(deck.path)
    records = b"".join(row[0] for row in connection.execute("SELECT record FROM events"))
    connection.close()
    assert records.count(kept.encode()) == 2
    assert bare.encode() not in records
    with TapeReader.open(deck.path) as reader:
        assert reader.ledger_hash() == ledger_hash([("s", line)])


def test_bodies_of_any_size_come_back(deck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_PIECE", 1000)
    sent, answer = b"".join(b"%04d " % n for n in range(700)), b"".join(b"said %d " % n for n in range(900))
    recording = deck.begin(sent, headers=(("content-type", "text/plain"),))
    recording.forwarded(Request("POST", "https", "h", 443, "/", body=sent + b"!"))
    recording.upstream_head(Response(200, "OK", (("content-type", "application/json"),)))
    recording.upstream_chunk(answer)
    recording.end("complete")
    (found,) = deck.read()
    assert (found.request.body, found.upstream.body) == (sent, answer)
    assert [end for end, _ in found.upstream.chunks] == [len(answer)]
    with TapeReader.open(deck.path) as reader:
        assert reader.detail("s", 1).forwarded.body == sent + b"!"
    report = verify(deck.path)
    assert [f.code for f in report.findings] == ["session_open", "seal_missing"]
    assert report.blobs >= 10


def test_a_packed_body_that_is_too_large_states_what_is_missing(deck: Any) -> None:
    recording = deck.begin()
    recording.upstream_head(Response(200, "OK", (("content-encoding", "gzip"),)))
    for _ in range(3):
        recording.upstream_chunk(b"x" * (MAX_HELD // 2))
    recording.end("complete")
    (found,) = deck.read()
    assert found.upstream.body.startswith(b"redacted:v1:")
    connection = sqlite3.connect(deck.path)
    records = [json.loads(row[0]) for row in connection.execute("SELECT record FROM events")]
    connection.close()
    told = [e["body"].get("dropped") for e in records if e.get("body") and e.get("side") == "upstream"]
    assert told == [3 * (MAX_HELD // 2)]
    assert verify(deck.path).ok
