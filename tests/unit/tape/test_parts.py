"""The small parts of the writer, one by one."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire._core import TapeLog
from faultwire.errors import TapeNotFound, TapeTampered
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.files.find import find, recorded_elsewhere, tapes
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.events import KINDS, fault_fired, ledger_line, text_of
from faultwire.tape.format.file import lay_out
from faultwire.tape.format.hash_chain import (
    GENESIS,
    is_canonical,
    is_canonical_event,
    leaf,
    may_have_fraction,
    record_bytes,
    root,
)
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.format.sqlite_schema import expected_schema, schema_digest
from faultwire.tape.read.fault_ledger import ledger_hash
from faultwire.tape.record.encoder import EventEncoder
from faultwire.tape.record.event_log import EventLog, storable
from faultwire.tape.record.journal import Journal
from faultwire.tape.record.queue import WriteQueue
from faultwire.tape.record.recorder import HURRY, Recording
from faultwire.tape.redact.redactor import Redactor

EXCHANGE = Exchange("s", 1, Request("GET", "https", "h", 443, "/"))
LINE = FaultFired(
    "status", "status", "response", "fired", "call 3 matches", "k", 0, 0, 0.1, settings={"ms": 1.5}
)


def scribe() -> tuple[EventEncoder, WriteQueue]:
    redactor = Redactor(b"k")
    return EventEncoder(EventLog(redactor), redactor), WriteQueue()


def kinds(writer: EventEncoder) -> list[str]:
    return [orjson.loads(row[2])["type"] for row in writer._log.drain()[0]]


# ---------------------------------------------------------------- chain and log


def test_each_event_names_the_one_before() -> None:
    log = EventLog(Redactor(b"k"))
    for number in range(3):
        log.append({"type": "end", "session": "s", "exchange": number})
    prev = GENESIS
    tree = log.core.root()
    rows, _ = log.drain()
    for seq, session, record, digest in rows:
        event = orjson.loads(record)
        assert (event["seq"], event["prev"], session) == (seq, prev, "s")
        assert is_canonical(record)
        assert leaf(record) == digest
        prev = digest.hex()
    assert tree == root([row[3] for row in rows])
    assert log.last == (2, prev)
    assert log.drain() == ([], [])


def test_secrets_in_any_event_are_redacted_before_the_hash() -> None:
    log = EventLog(Redactor(b"k"))
    log.append(
        {"type": "session_start", "session": "s", "agent": "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"}, counts := {}
    )
    assert b"sk-ant" not in log.drain()[0][0][2]
    assert counts == {"anthropic_key": 1}


def test_text_that_json_cannot_hold() -> None:
    log = EventLog(Redactor(b"k"))
    log.append({"type": "request", "path": "/\udcff", "headers": [("a", "\ud800")]})
    assert orjson.loads(log.drain()[0][0][2])["path"] == "/\\udcff"
    assert storable(["\udc80", 1]) == ["\\udc80", 1]


def test_what_is_not_canonical() -> None:
    assert not is_canonical(b'{"b":1,"a":2}')
    assert not is_canonical(b"{")
    with pytest.raises(TypeError):
        record_bytes({"n": 2**53})


# ---------------------------------------------------------------- records


def test_ledger_lines_come_back() -> None:
    from dataclasses import replace

    line = ledger_line(LINE)
    assert LINE.unit is not None
    assert "unit" not in line, "with the seed it would let a guess of the request be tested"
    assert fault_fired(orjson.loads(record_bytes(line))) == replace(LINE, unit=None)
    assert text_of({"b": 1, "a": Path("x")}) == '{"a":"x","b":1}'


def test_the_ledger_hash_does_not_depend_on_arrival_order() -> None:
    from dataclasses import replace

    other = replace(LINE, reason="call 9 matches")
    assert ledger_hash([("s", LINE)]) == ledger_hash([("s", other)])
    assert ledger_hash([("s", LINE)]) != ledger_hash([("s", replace(LINE, outcome="skipped"))])
    assert ledger_hash([("s", LINE), ("s", LINE)]) != ledger_hash([("s", LINE)])


def test_the_ledger_hash_depends_on_what_has_one_key_and_not_on_the_keys() -> None:
    from dataclasses import replace

    def lines(*keys: str) -> list[tuple[str, FaultFired]]:
        outcomes = ("fired", "skipped", "fired", "skipped")
        return [("s", replace(LINE, key=k, outcome=o)) for k, o in zip(keys, outcomes, strict=True)]

    assert ledger_hash(lines("a", "a", "b", "b")) == ledger_hash(lines("y", "y", "x", "x"))
    assert ledger_hash(lines("a", "a", "b", "b")) != ledger_hash(lines("a", "b", "a", "b"))
    assert ledger_hash(lines("a", "a", "b", "b")) != ledger_hash(lines("a", "a", "a", "a"))


# ---------------------------------------------------------------- blobs


def test_a_body_is_stored_once() -> None:
    blobs = TapeLog()
    assert blobs.put(b"abc") == blobs.put(b"abc")
    assert blobs.put(b"") != blobs.put(b"abd")
    assert [row[1:] for row in blobs.drain()[1]] == [(3, 0, b"abc"), (0, 0, b""), (3, 0, b"abd")]


@pytest.mark.parametrize("data", [b"x" * 4095, b"x" * 4096, os.urandom(5000)])
def test_large_bodies_are_packed_where_that_helps(data: bytes) -> None:
    blobs = TapeLog()
    blobs.put(data)
    _, size, packed, stored = blobs.drain()[1][0]
    assert unpack(size, packed, stored) == data
    assert len(stored) <= len(data)


def test_what_unpacks_to_something_else() -> None:
    blobs = TapeLog()
    blobs.put(b"x" * 9000)
    _, size, packed, stored = blobs.drain()[1][0]
    for wrong in (
        (size - 1, packed, stored),
        (size + 1, packed, stored),
        (size, packed, b"no"),
        (size, 0, stored),
    ):
        with pytest.raises(TapeTampered):
            unpack(*wrong)


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize("count", [0, 1, 3, 4, 63, 64, 85, 130])
def test_any_number_of_rows(count: int) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    lay_out(connection)
    insert_events(connection, [(n, "s", b"r%d" % n, bytes(32)) for n in range(count)])
    insert_blobs(connection, [(b"%032d" % (n // 2), 1, 0, b"x") for n in range(count)])
    assert [row[0] for row in connection.execute("SELECT seq FROM events")] == list(range(count))
    assert connection.execute("SELECT count(*) FROM blobs").fetchone() == ((count + 1) // 2,)
    with pytest.raises(sqlite3.IntegrityError):
        insert_events(connection, [(0, "s", b"again", bytes(32))] * 2)
    connection.close()


def test_the_schema_is_three_things() -> None:
    names = {name for _, name, *_ in expected_schema()}
    assert names == {"events", "blobs", "events_by_session", "sqlite_autoindex_blobs_1"}
    assert len(schema_digest()) == 64


# ---------------------------------------------------------------- scribe and recording


def test_a_response_that_came_whole_is_one_event() -> None:
    writer, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    recording.upstream_head(Response(200))
    recording.upstream_chunk(b"abc")
    recording.end("complete")
    assert writer.write(recording) == (True, 3)
    assert kinds(writer) == ["request", "response", "end"]


def test_one_that_takes_its_time_is_written_as_it_comes() -> None:
    writer, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    assert writer.write(recording) == (False, 0)
    recording.upstream_head(Response(200))
    recording.upstream_chunk(b"abc def")
    assert writer.write(recording) == (False, 7)
    recording.upstream_chunk(b" ghi ")
    assert writer.write(recording) == (False, 5)
    assert writer.write(recording) == (False, 0)
    recording.end("complete", None, (LINE,))
    assert writer.write(recording) == (True, 0)
    assert kinds(writer) == ["request", "response", "stream_chunk", "stream_chunk", "fault", "end"]


def test_the_writer_knows_all_kinds() -> None:
    writer, intake = scribe()
    writer.note({"type": "drop", "session": "s"})
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    recording.forwarded(Request("GET", "https", "h", 443, "/?key=x"))
    recording.delivered_head(Response(500, body=b"no"))
    recording.end("complete", "bad sk-ant-api03-AAAAAAAAAAAAAAAAAAAA")
    writer.write(recording)
    found = kinds(writer)
    assert found == ["drop", "request", "forwarded", "response", "redaction", "end"]
    assert set(found) <= KINDS


def test_instants_are_measured_from_the_beginning() -> None:
    _, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.upstream_head(Response(200, body=b"x"))
    recording.upstream_chunk(b"y")
    assert 0 <= recording.up[0][0] <= recording.up[1][0]
    recording.touched()
    first = recording.touched_at
    recording.touched()
    assert recording.touched_at == first


def test_nothing_is_received_after_the_end() -> None:
    writer, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    recording.upstream_head(Response(200))
    recording.end("complete")
    for say in (
        lambda: recording.upstream_chunk(b"late"),
        lambda: recording.delivered_head(Response(500, body=b"late")),
        lambda: recording.delivered_chunk(b"late"),
        lambda: recording.request_chunk(b"late"),
        lambda: recording.forwarded(EXCHANGE.request),
        lambda: recording.end("reset", "late"),
        recording.touched,
    ):
        say()
    writer.write(recording)
    assert kinds(writer) == ["request", "response", "end"]
    assert recording.ending is not None
    assert recording.ending[1] == "complete"
    assert intake.behind == 0


def test_nothing_is_written_of_a_session_that_has_ended() -> None:
    writer, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    recording.upstream_head(Response(200))
    assert writer.write(recording) == (False, 0)
    writer.note({"type": "session_end", "session": "s"})
    recording.upstream_chunk(b"late ")
    recording.end("complete")
    assert writer.write(recording) == (False, 5)
    writer.note({"type": "drop", "session": "s", "exchange": 2})
    assert kinds(writer) == ["request", "response", "session_end"]


def test_what_nobody_will_write_is_not_held() -> None:
    _, intake = scribe()
    queued, live = Recording(EXCHANGE, intake), Recording(EXCHANGE, intake)
    for recording in (queued, live):
        recording.request(Request("POST", "https", "h", 443, "/", body=b"abc"))
        recording.upstream_head(Response(200))
        recording.upstream_chunk(b"defg")
    assert intake.gather(0) == [queued, live]
    queued.picked()
    queued.upstream_chunk(b"hi")
    intake.abandon()
    assert (queued.up, queued.received, len(intake._items)) == ([], None, 0)
    for _ in range(3):
        live.upstream_chunk(b"more")
        live.delivered_chunk(b"more")
    assert (live.up, live.down, live.received, live.upstream) == ([], [], None, None)
    intake.offer(live)
    assert len(intake._items) == 0


def test_forgetting_returns_what_was_not_taken() -> None:
    writer, intake = scribe()
    recording = Recording(EXCHANGE, intake)
    recording.request(Request("POST", "https", "h", 443, "/", body=b"abc"))
    recording.upstream_chunk(b"defg")
    assert recording.forget() == intake.behind == 7
    recording = Recording(EXCHANGE, intake)
    recording.request(Request("POST", "https", "h", 443, "/", body=b"abc"))
    assert writer.write(recording) == (False, 3)
    assert recording.forget() == 0


# ---------------------------------------------------------------- intake


def test_a_recording_waits_in_the_queue_once() -> None:
    intake = WriteQueue()
    recording = Recording(EXCHANGE, intake)
    recording.request(EXCHANGE.request)
    recording.upstream_head(Response(200))
    assert intake.gather(0) == [recording]
    recording.picked()
    recording.end("complete")
    assert intake.gather(0) == [recording]


def test_much_to_write_ends_the_pause() -> None:
    intake = WriteQueue()
    recording = Recording(EXCHANGE, intake)
    recording.upstream_chunk(b"x" * HURRY)
    assert not intake._hurry.is_set()
    recording.upstream_chunk(b"x")
    assert intake.offered == HURRY + 1
    assert intake.gather(3600) == [recording]
    intake.took(HURRY + 1)
    recording.upstream_chunk(b"x")
    assert not intake._hurry.is_set(), "what the writer has taken waits no longer"


# ---------------------------------------------------------------- journal and find


def test_journals_are_only_added_to(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for _ in range(2):
        journal = Journal(path)
        journal.acknowledge([EXCHANGE, EXCHANGE])
        journal.close()
    assert path.read_bytes().count(b'{"type":"acknowledged","session":"s","exchange":1}\n') == 4
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic"):
        Journal(tmp_path / "link")


def test_finding_tapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    base = tmp_path / ".faultwire"
    named, of_run = base / "tapes" / "one.tape", base / "runs" / "r1" / "run.tape"
    for path in (named, of_run):
        path.parent.mkdir(parents=True)
        path.write_text("")
    assert tapes(base=base) == [of_run, named]
    assert tapes(named.parent) == [named]
    assert find("one", base=base) == find("one.tape", base=base) == named
    assert find("r1", base=base) == of_run
    assert find(str(named)) == named
    assert find("./gone.tape", base=base) == Path("gone.tape")
    with pytest.raises(TapeNotFound) as caught:
        find("onne", base=base)
    assert caught.value.hint == "did you mean `one`?"
    assert find("last", base=base) == of_run
    named.unlink()
    with pytest.raises(TapeNotFound) as caught:
        find("one", base=base)
    assert caught.value.hint == "`faultwire tape list` names the tapes"
    with pytest.raises(TapeNotFound):
        tapes(tmp_path / "none")


def test_a_tape_that_a_run_recorded_elsewhere_is_found_by_name_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, elsewhere = Path(".faultwire/runs/20260101-a"), Path(".faultwire/runs/20260102-b")
    for run in (own, elsewhere):
        run.mkdir(parents=True)
    (own / "run.tape").write_text("")
    assert find("last") == own / "run.tape"
    (elsewhere / "run.json").write_text('{"tape": "night.tape"}')
    assert find("last") == own / "run.tape", "the tape of the newer run is not there"
    with pytest.raises(TapeNotFound):
        find("night")
    Path("night.tape").write_text("")
    assert find("night") == find("last") == find("20260102-b") == Path("night.tape")
    assert recorded_elsewhere() == [Path("night.tape")]
    named = Path(".faultwire/tapes/night.tape")
    named.parent.mkdir()
    named.write_text("")
    assert find("night") == named, "the project's own comes first"
    for text in ('{"tape": 3}', "[]", "{", '{"tape": ""}'):
        (elsewhere / "run.json").write_text(text)
        assert recorded_elsewhere() == []


def test_each_tape_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tape, run = Path(".faultwire/tapes/one.tape"), Path(".faultwire/runs/r1")
    tape.parent.mkdir(parents=True)
    tape.write_text("")
    run.mkdir(parents=True)
    (run / "run.json").write_text('{"tape": ".faultwire/tapes/one.tape"}')
    assert [*tapes(), *recorded_elsewhere()] == [tape]
    (run / "run.tape").symlink_to(tape.resolve())
    assert len([*tapes(), *recorded_elsewhere()]) == 1
    (run / "run.tape").unlink()
    (run / "run.tape").write_text("another")
    assert len(tapes()) == 2


def test_a_first_event_states_what_the_tape_is(deck: Any) -> None:
    deck.read()
    connection = sqlite3.connect(deck.path)
    (record,) = connection.execute("SELECT record FROM events WHERE seq=0").fetchone()
    connection.close()
    event = orjson.loads(record)
    assert (event["type"], event["format"], event["origin"], event["prev"]) == ("tape", 1, "p/t", GENESIS)
    assert event["schema"] == schema_digest()


@pytest.mark.parametrize(
    "record",
    [
        b'{"a":1,"b":[true,null,"x"]}', b'{"a":1.5}', b'{"a":1e3}', b'{"a":-0}', b'{"a":9007199254740993}',
        b'{"a":9007199254740992}',
        b'{"b":1,"a":2}', b'{"a":1,"a":1}', b'{"a": 1}', b'{"a":"\\u0041"}', b'{"a":"1,2.5"}',
        b"[" * 200 + b"]" * 200, b'{"a":' * 200 + b"1" + b"}" * 200, '{"\U00010000":1,"\ue000":2}'.encode(),
        '{"\ue000":1,"\U00010000":2}'.encode(),
        b'{"a":"\xff"}', b"1", b'{"a":"\\/"}', b'{"a":"\x7f"}',
    ],
)  # fmt: skip
def test_the_fast_test_of_canonical_json_agrees_with_the_core(record: bytes) -> None:
    try:
        event = orjson.loads(record)
    except ValueError:
        return
    fraction = may_have_fraction(record)
    held = record not in (b'{"a":1.5}', b'{"a":9007199254740992}')  # the core is right, and no record has it
    assert is_canonical_event(record, event, fraction=fraction) == (is_canonical(record) and held)
    assert fraction or not isinstance(event, dict) or not any(isinstance(v, float) for v in event.values())
