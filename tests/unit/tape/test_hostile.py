"""Files that somebody made to harm whoever opens them.

`faultwire.tape.format.sqlite_schema`, `.shape`, `.about`, `.small`.

A tape may come by mail. Whatever it holds, whoever opens it gets one typed error, and soon.

"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from faultwire.errors import TapeError, TapeTampered, UsageError
from faultwire.events import Message
from faultwire.tape.evidence.inclusion_proof import prove
from faultwire.tape.evidence.salvage import salvage
from faultwire.tape.evidence.sealer import seal_path, seal_tape
from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.copy import merge
from faultwire.tape.format.file import connect_reader
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes
from faultwire.tape.format.small_file import small_file
from faultwire.tape.format.validate import check, event_of
from faultwire.tape.read.metadata import info
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.redact.scan import scan

KEY = SignerKey("p", b"s" * 32)


def read_all(path: Path) -> None:
    with TapeReader.open(path) as reader:
        reader.info(), reader.ledger_hash()
        for exchange in reader.exchanges():
            assert exchange.request.body is not None
            assert exchange.upstream is None or exchange.upstream.body is not None


def soon(act: Callable[[Path], Any], path: Path) -> Any:
    """What was done or raised within a tenth of a second of this process."""
    began = time.process_time()
    try:
        return act(path)
    except TapeError as error:
        return error.code
    finally:
        assert time.process_time() - began < 0.1


def rewritten(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """The tape with other events, and hashes and links that fit them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        events = [orjson.loads(one[0]) for one in rows.execute("SELECT record FROM events ORDER BY seq")]
        change(events)
        rows.execute("DELETE FROM events")
        prev = GENESIS
        for seq, event in enumerate(events):
            record = record_bytes({**event, "seq": seq, "prev": prev})
            row = (seq, event.get("session", ""), record, leaf(record))
            rows.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
            prev = leaf(record).hex()
    return path


def any_type(path: Path, statement: str, *values: Any) -> Path:
    """The tape with a value of a type that its column cannot have, under the schema of every tape."""
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        known = rows.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        rows.execute("PRAGMA writable_schema=ON")
        rows.execute("UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')')")
        rows.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, ' BLOB', ''), 'size INTEGER', 'size')"
        )
        rows.execute("PRAGMA schema_version=77")
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        rows.execute(statement, values)
        rows.execute("PRAGMA writable_schema=ON")
        rows.executemany("UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1", known)
        rows.execute("PRAGMA schema_version=78")
    return path


# ---------------------------------------------------------------- the schema


def test_a_schema_of_many_tables_is_not_read_to_its_end(closed: Callable[[], Path]) -> None:
    path = closed()
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("PRAGMA writable_schema=ON")
        tables = ((f"y{n}", f"CREATE TABLE y{n}(a)") for n in range(20_000))
        rows.executemany("INSERT INTO sqlite_schema VALUES ('table', ?1, ?1, 2, ?2)", tables)
    assert soon(read_all, path) == "tape.schema_mismatch"
    assert [one.code for one in soon(verify, path).findings] == ["schema_mismatch"]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW v AS SELECT " + "+".join(["1"] * 900_000),
        "CREATE TABLE v (a DEFAULT '%s')" % ("x" * 20_000),
    ],
)
def test_a_long_schema_is_not_parsed(closed: Callable[[], Path], sql: str) -> None:
    path = closed()
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("PRAGMA writable_schema=ON")
        rows.execute("INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 2, ?)", (sql,))
    assert soon(read_all, path) == "tape.unreadable"


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE events ADD COLUMN g INT GENERATED ALWAYS AS (seq * 2) VIRTUAL",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "CREATE INDEX i ON events (lower(session))",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT load_extension('x'); END",
    ],
)
def test_what_sqlite_would_run_for_us(closed: Callable[[], Path], sql: str) -> None:
    path = closed()
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute(sql)
    assert soon(read_all, path) == "tape.schema_mismatch"


# ---------------------------------------------------------------- values of other types


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE blobs SET digest = ? WHERE rowid = 1", 1 << 40),
        ("UPDATE blobs SET size = ?", "x"),
        ("UPDATE blobs SET size = ?", 1e308),
        ("UPDATE blobs SET data = ?", 7),
        ("UPDATE events SET record = ? WHERE seq = 3", 7),
        ("UPDATE events SET hash = ? WHERE seq = 3", 1 << 40),
        ("UPDATE events SET session = CAST(x'8061' AS TEXT) WHERE seq >= ?", 1),
    ],
)
def test_a_value_of_another_type(
    closed: Callable[[], Path], tmp_path: Path, statement: str, value: Any
) -> None:
    path = any_type(closed(), statement, value)
    with closing(connect_reader(path)):
        pass  # the schema is every tape's
    assert soon(read_all, path).startswith("tape.")
    assert not soon(verify, path).ok
    for act in (scan, lambda one: prove(one, 2), lambda one: salvage(one, tmp_path / "s.tape")):
        soon(act, path)  # an integer is no number of bytes to make room for


# ---------------------------------------------------------------- events that no recorder writes


@pytest.mark.parametrize(
    ("kind", "member", "value"),
    [
        ("tape", "created_ms", "x"),
        ("tape", "created_ms", 2**53 - 1),
        ("tape", "settings", "[]"),
        ("session_start", "started_ms", {}),
        ("session_start", "seed", "x" * 200),
        ("session_end", "ended_ms", None),
        ("session_end", "exchanges", "2"),
        ("request", "host", 5),
        ("request", "headers", [["a"]]),
        ("request", "headers", [["a", "\u4e2d"]]),
        ("request", "port", -1),
        ("request", "exchange", True),
        ("request", "provider", []),
        ("response", "status", "200"),
        ("response", "body", {"blob": "zz", "size": 1}),
        ("response", "body", {"blob": "0" * 64, "size": 1, "chunks": [[1, "x"]]}),
        ("fault", "lines", [{}]),
        ("end", "duration_ns", {}),
        ("end", "touched", 1),
    ],
)
def test_an_event_that_no_recorder_writes(
    closed: Callable[[], Path], tmp_path: Path, kind: str, member: str, value: Any
) -> None:
    path = closed()
    read_all(path)
    rewritten(path, lambda events: next(e for e in events if e["type"] == kind).update({member: value}))
    assert soon(read_all, path) == "tape.record_malformed"
    with pytest.raises(TapeTampered):
        merge([path], tmp_path / "m.tape", "p/m", KEY)
    with pytest.raises(TapeTampered):
        seal_tape(path, KEY)
    if kind != "tape":
        assert salvage(path, tmp_path / "s.tape").reason is not None
        read_all(tmp_path / "s.tape")
        assert verify(tmp_path / "s.tape").ok


def test_what_a_shape_lets_through() -> None:
    check({"type": "of-a-later-version", "session": "s", "more": [1.5]})
    check({"type": "note", "code": "x", "text": "y", "more": None})
    for event in ({}, {"type": []}, {"type": "note", "code": 1, "text": ""}, {"type": "x", "session": 5}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            check(event)
    for record in (b"[]", b"{", b"7", b"[" * 5000):
        with pytest.raises(TapeTampered, match="event 3 of tape"):
            event_of(record, Path("t"), 3)
    with pytest.raises(TypeError):
        info({"type": "note"}, Path("t"))


@pytest.mark.parametrize("number", [2**53, -(2**53), 1.5])
def test_a_number_that_not_every_reader_keeps(
    closed: Callable[[], Path], tmp_path: Path, number: float
) -> None:
    path = closed()
    with closing(sqlite3.connect(path)) as rows, rows:
        (record,) = rows.execute("SELECT record FROM events WHERE seq = 3").fetchone()
        new = record.replace(b'"at_ns":', b'"a":%s,"at_ns":' % str(number).encode())
        rows.execute("UPDATE events SET record = ?, hash = ? WHERE seq = 3", (new, leaf(new)))
    found = verify(path).findings
    assert ("record_malformed", 3) in [(one.code, one.seq) for one in found]
    done = salvage(path, tmp_path / "s.tape")
    assert (done.events, verify(tmp_path / "s.tape").ok) == (3, True)


def test_a_record_that_is_deeper_than_anybody_reads(closed: Callable[[], Path]) -> None:
    path = closed()
    deep = b'{"a":' * 1000 + b"1.5" + b"}" * 1000
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("UPDATE events SET record = ?, hash = ? WHERE seq = 3", (deep, leaf(deep)))
    assert "record_malformed" in {one.code for one in soon(verify, path).findings}
    assert soon(read_all, path).startswith("tape.")
    assert isinstance(soon(scan, path), (str, list))


def test_salvage_keeps_nothing_that_a_verifier_takes_exception_to(
    closed: Callable[[], Path], tmp_path: Path
) -> None:
    path = rewritten(closed(), lambda events: events[3]["body"].update(chunks=[[1, 5]]))
    (bad,) = [one.seq for one in verify(path).findings if not one.is_note]
    done = salvage(path, tmp_path / "s.tape")
    assert done.events == bad
    assert verify(tmp_path / "s.tape").ok


# ---------------------------------------------------------------- bodies without end


def bombs(path: Path, count: int) -> Path:
    """The first answer in `count` pieces of 64 MB, all of them the same few kilobytes."""
    size = 64 << 20
    data = bytes(size)

    digest = sha256(data)
    with closing(sqlite3.connect(path)) as rows, rows:
        packed = zstandard.ZstdCompressor().compress(data)
        rows.execute("INSERT INTO blobs VALUES (?, ?, 1, ?)", (digest.digest(), size, packed))

    def change(events: list[dict[str, Any]]) -> None:
        body = {"blob": digest.hexdigest(), "size": size, "chunks": [[size, 1]]}
        head = {key: events[3][key] for key in ("session", "exchange", "side")}
        events[4:4] = [{"type": "stream_chunk", **head, "body": body} for _ in range(count)]

    return rewritten(path, change)


def test_a_body_of_ten_gigabytes_in_a_few_kilobytes(closed: Callable[[], Path]) -> None:
    path = bombs(closed(), 160)
    assert soon(read_all, path) == "tape.body_size"


def test_messages_of_ten_gigabytes(deck: Any) -> None:
    recording = deck.begin()
    for _ in range(3):
        recording.message(Message("server", "binary", b"x" * 10, 1, 1, None))
    recording.end("complete")
    deck.read()

    def change(events: list[dict[str, Any]]) -> None:
        for one in events:
            if one["type"] == "message":
                one["body"]["size"] = 4 << 30

    assert soon(read_all, rewritten(deck.path, change)) == "tape.body_size"


# ---------------------------------------------------------------- what stands beside


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_what_stands_beside_is_a_file_or_nothing(closed: Callable[[], Path], end: str) -> None:
    path = closed()
    beside = path.with_name(path.name + end)
    os.mkfifo(beside)  # SQLite would wait for it
    assert soon(read_all, path) == "tape.unreadable"
    beside.unlink()
    victim = path.with_name("victim")
    victim.write_bytes(b"v" * 40_000)
    beside.symlink_to(victim)
    assert soon(read_all, path) == "tape.unreadable"
    assert victim.read_bytes() == b"v" * 40_000
    beside.unlink()
    beside.write_bytes(os.urandom(40_000))
    soon(read_all, path)
    assert not [one for one in verify(path).findings if not one.is_note]


def test_a_seal_file_of_any_kind(closed: Callable[[], Path]) -> None:
    path = closed()
    seal_tape(path, KEY)
    place = seal_path(path)
    right = place.read_text()
    place.unlink()

    def found() -> list[str]:
        return [one.code for one in soon(lambda one: verify(one, (KEY.verifier,)), path).findings]

    assert found() == ["file_unsealed"]
    with place.open("wb") as out:
        out.truncate(1 << 30)
    assert found() == ["seal_invalid"]
    for text in (
        "",
        "\0" * 10,
        "a\n\n\n— x aaaa\n",
        right.replace("\n", "\r\n"),
        right.replace("\n", "\n\n", 1),
    ):
        place.write_text(text, newline="")
        assert found() == ["seal_invalid"], text
    place.write_bytes(b"\xff\xfe")
    assert found() == ["seal_invalid"]
    place.unlink()
    place.symlink_to(path)
    assert found() == ["seal_invalid"]
    place.unlink()
    os.mkfifo(place)
    assert found() == ["seal_invalid"]
    place.unlink()
    place.write_text(right)
    assert found() == []


def test_small_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    assert small_file(tmp_path / "a", 3) == small_file(tmp_path / "link", 3, links=True) == b"abc"
    for name, most, why in (
        ("a", 2, "longer than 2"),
        ("link", 3, "link"),
        ("no", 3, "No such"),
        (".", 3, "not"),
    ):
        with pytest.raises(OSError, match=why):
            small_file(tmp_path / name, most)
    with pytest.raises(UsageError):
        SignerKey.fresh("\udcff")
    with pytest.raises(ValueError, match="a key is"):
        VerifierKey.parse("\udcff+00+AA")
