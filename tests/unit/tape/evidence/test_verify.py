"""Every kind of tampering is found and named. Each case first proves that the tape was fine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.errors import TapeError, TapeNotFound, TapeVersion
from faultwire.tape.evidence.verify import VerifyReport, verify
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, root
from faultwire.tape.read.reader import TapeReader

Tamper = Callable[[sqlite3.Connection], None]


def tampered(path: Path, tamper: Tamper) -> VerifyReport:
    assert codes(verify(path)) == []
    connection = sqlite3.connect(path, isolation_level=None)
    tamper(connection)
    connection.close()
    return verify(path)


def codes(report: VerifyReport) -> list[str]:
    """What was found, apart from the seal that the tapes of these tests do not have."""
    return [finding.code for finding in report.findings if finding.code != "seal_missing"]


def events(c: sqlite3.Connection) -> list[tuple[int, dict, bytes]]:
    return [
        (seq, orjson.loads(record), digest)
        for seq, record, digest in c.execute("SELECT seq, record, hash FROM events ORDER BY seq")
    ]


def rewrite(c: sqlite3.Connection, seq: int, change: Callable[[dict], None], *, rehash: bool) -> None:
    (record,) = c.execute("SELECT record FROM events WHERE seq=?", (seq,)).fetchone()
    event = orjson.loads(record)
    change(event)
    new = record_bytes(event)
    c.execute("UPDATE events SET record=? WHERE seq=?", (new, seq))
    if rehash:
        c.execute("UPDATE events SET hash=? WHERE seq=?", (leaf(new), seq))


def rechain(c: sqlite3.Connection) -> None:
    """What somebody does who knows the format: every hash and link made anew."""
    prev = GENESIS
    for at, (seq, event, _) in enumerate(events(c)):
        record = record_bytes({**event, "seq": at, "prev": prev})
        c.execute("UPDATE events SET seq=?, record=?, hash=? WHERE seq=?", (at, record, leaf(record), seq))
        prev = leaf(record).hex()


def test_a_genuine_tape_verifies(closed: Callable[[], Path]) -> None:
    path = closed()
    report = verify(path)
    assert (report.ok, codes(report), report.first_bad) == (True, [], None)
    assert (report.exchanges, report.sessions) == (2, 1)
    connection = sqlite3.connect(path)
    assert report.root == root([digest for *_, digest in events(connection)]).hex()
    connection.close()


def test_a_changed_record_is_named(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: rewrite(c, 3, lambda e: e.update(status=500), rehash=False))
    assert codes(report) == ["hash_mismatch", "chain_broken"]
    assert report.first_bad == 3


def test_a_changed_record_with_its_hash_breaks_the_chain(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: rewrite(c, 3, lambda e: e.update(status=500), rehash=True))
    assert codes(report) == ["chain_broken"]
    assert report.first_bad == 4


def test_a_chain_made_anew_has_another_root(closed: Callable[[], Path]) -> None:
    path = closed()
    before = verify(path).root

    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, 3, lambda e: e.update(status=500), rehash=True)
        rechain(c)

    report = tampered(path, tamper)
    assert report.ok  # a bare chain cannot see this; whoever kept the root can
    assert report.root != before


def test_a_changed_hash(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("UPDATE events SET hash=zeroblob(32) WHERE seq=2"))
    assert codes(report) == ["hash_mismatch"]


def test_a_missing_event(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("DELETE FROM events WHERE seq=4"))
    assert codes(report)[:2] == ["sequence_gap", "chain_broken"]
    assert report.first_bad == 4


def test_an_empty_tape(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("DELETE FROM events"))
    assert "sequence_gap" in codes(report)


def test_two_events_that_changed_places(closed: Callable[[], Path]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        for old, new in ((3, -1), (4, 3), (-1, 4)):
            c.execute("UPDATE events SET seq=? WHERE seq=?", (new, old))

    report = tampered(closed(), tamper)
    assert {"chain_broken", "row_mismatch"} <= set(codes(report))
    assert report.first_bad == 3


def test_a_row_that_claims_another_session(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("UPDATE events SET session='x' WHERE seq=3"))
    assert codes(report) == ["row_mismatch"]


def test_a_missing_body(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("DELETE FROM blobs WHERE rowid=1"))
    assert set(codes(report)) == {"blob_missing"}
    assert report.first_bad == 2


def test_a_changed_body(closed: Callable[[], Path]) -> None:
    report = tampered(closed(), lambda c: c.execute("UPDATE blobs SET data=CAST('[]' AS BLOB) WHERE rowid=1"))
    assert set(codes(report)) == {"blob_mismatch"}


@pytest.mark.parametrize("change", ["size=10000000000", "size=1", "packed=1", "packed=7", "size=-1"])
def test_a_body_that_lies_about_itself(closed: Callable[[], Path], change: str) -> None:
    report = tampered(closed(), lambda c: c.execute(f"UPDATE blobs SET {change} WHERE rowid=1"))
    assert set(codes(report)) == {"blob_mismatch"}


def test_a_body_that_nothing_names(closed: Callable[[], Path]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        c.execute("INSERT INTO blobs VALUES (zeroblob(32), 0, 0, zeroblob(0))")

    assert set(codes(tampered(closed(), tamper))) == {"blob_mismatch", "blob_unreferenced"}


def test_chunks_that_do_not_add_up(closed: Callable[[], Path]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, 3, lambda e: e["body"].update(chunks=[[1, 5]]), rehash=True)
        rechain(c)

    assert codes(tampered(closed(), tamper)) == ["record_malformed"]


@pytest.mark.parametrize(
    "record", [b"", b"{", b"[]", b'{ "type":"end"}', b'{"type":1}', b"\xff", b'{"a":1,"a":2}']
)
def test_a_record_that_is_none(closed: Callable[[], Path], record: bytes) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        c.execute("UPDATE events SET record=?, hash=? WHERE seq=3", (record, leaf(record)))

    assert "record_malformed" in codes(tampered(closed(), tamper))


def test_a_record_with_a_fraction(closed: Callable[[], Path]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, 3, lambda e: e.update(at_ns=1.5), rehash=True)
        rechain(c)

    assert codes(tampered(closed(), tamper)) == ["record_malformed"]


@pytest.mark.parametrize(
    ("seq", "change", "found"),
    [
        (1, {"seq": True}, "row_mismatch"),
        (3, {"exchange": True}, "record_malformed"),
        (3, {"session": [], "exchange": 1}, "record_malformed"),
        (3, {"body": {"blob": "00" * 32, "size": 0, "chunks": [[]]}}, "record_malformed"),
        (3, {"body": {"blob": "00" * 32, "size": 0, "chunks": {}}}, "record_malformed"),
        (3, {"body": {"blob": "00" * 32, "size": 1, "chunks": [[True, 1]]}}, "record_malformed"),
        (0, {"settings": '{"a":1,"a":2}'}, "record_malformed"),
        (0, {"settings": '{"a":NaN}'}, "record_malformed"),
        (0, {"settings": f'{{"a":{"[" * 127}{"]" * 127}}}'}, "record_malformed"),
        (0, {"settings": 7}, "record_malformed"),
    ],
)
def test_what_only_some_readers_would_read(
    closed: Callable[[], Path], seq: int, change: dict, found: str
) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, seq, lambda e: e.update(change), rehash=True)
        if "seq" not in change:
            rechain(c)

    assert found in codes(tampered(closed(), tamper))


def test_a_record_that_lacks_its_members(closed: Callable[[], Path]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, 2, lambda e: e.pop("session"), rehash=True)
        c.execute("UPDATE events SET session='' WHERE seq=2")

    assert "record_malformed" in codes(tampered(closed(), tamper))


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE more (x)",
        "CREATE VIEW v AS SELECT * FROM events",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM blobs; END",
        "DROP INDEX events_by_session",
        "ALTER TABLE events ADD COLUMN x TEXT",
    ],
)
def test_any_other_schema(closed: Callable[[], Path], sql: str) -> None:
    report = tampered(closed(), lambda c: c.executescript(sql))
    assert (codes(report), report.ok) == (["schema_mismatch"], False)


@pytest.mark.parametrize("change", [lambda e: e.update(schema="00"), lambda e: e.pop("schema")])
def test_a_first_event_of_another_schema(
    closed: Callable[[], Path], change: Callable[[dict[str, Any]], object]
) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        rewrite(c, 0, change, rehash=True)
        rechain(c)

    assert codes(tampered(closed(), tamper)) == ["schema_mismatch"]


def test_damaged_pages_are_a_finding(closed: Callable[[], Path]) -> None:
    path = closed()
    data = bytearray(path.read_bytes())
    data[8192 * 2 :] = b"\xff" * (len(data) - 8192 * 2)
    path.write_bytes(data)
    assert not verify(path).ok


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # tape, session, then twice: request, response, fault, end; then the session's end
        ([0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10], [5]),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9], [10]),
        ([0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 5], [10]),
    ],
)
def test_events_after_the_end(closed: Callable[[], Path], order: list[int], expected: list[int]) -> None:
    def tamper(c: sqlite3.Connection) -> None:
        assert [event["type"] for _, event, _ in events(c)][2:6] == ["request", "response", "fault", "end"]
        for place, seq in enumerate(order):
            c.execute("UPDATE events SET seq=? WHERE seq=?", (-1 - place, seq))
        c.execute("UPDATE events SET seq=-1-seq")
        rechain(c)

    report = tampered(closed(), tamper)
    assert codes(report) == ["event_after_end"] * len(expected)
    assert [finding.seq for finding in report.findings if finding.seq is not None] == expected
    assert not report.ok


def test_another_version_cannot_be_read(closed: Callable[[], Path]) -> None:
    with pytest.raises(TapeVersion, match="has version 9, expected 1") as caught:
        tampered(closed(), lambda c: c.execute("PRAGMA user_version=9"))
    assert f"faultwire {version('faultwire')} reads tapes of version 1" in (caught.value.hint or "")


def test_no_tape_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TapeNotFound):
        verify(tmp_path / "none.tape")
    (tmp_path / "x.tape").write_bytes(b"hello")
    with pytest.raises(TapeError) as caught:
        verify(tmp_path / "x.tape")
    assert caught.value.code == "tape.unreadable"


def test_an_index_that_hides_an_exchange(closed: Callable[[], Path]) -> None:
    path = closed()
    assert codes(verify(path)) == []
    index = "WHERE name = 'events_by_session'"
    with closing(sqlite3.connect(path)) as c, c:
        rows = c.execute("SELECT seq, session, record, hash FROM events WHERE seq BETWEEN 6 AND 9").fetchall()
        schema = c.execute(f"SELECT * FROM sqlite_schema {index}").fetchone()
        c.execute("DELETE FROM events WHERE seq BETWEEN 6 AND 9")
        c.execute("PRAGMA writable_schema=ON")
        c.execute(f"DELETE FROM sqlite_schema {index}")
    with closing(sqlite3.connect(path)) as c, c:  # now SQLite knows of no index that an insert must keep
        c.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        c.execute("PRAGMA writable_schema=ON")
        c.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", schema)
    with TapeReader.open(path) as reader:
        assert [one.number for one in reader.exchanges()] == [1]
    (finding,) = (one for one in verify(path).findings if not one.is_note)
    message = "the index over sessions does not name the events that are there"
    assert (finding.code, finding.seq, finding.message) == ("damaged", None, message)


@pytest.mark.parametrize("wrong", [False, True])
def test_not_every_finding_of_very_many_is_listed(
    wrong: bool, closed: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes do not end the reading, and what is wrong does."""
    monkeypatch.setattr("faultwire.tape.evidence.verify.MAX_FINDINGS", 50)

    def drop_many(c: sqlite3.Connection) -> None:
        first = len(events(c))
        for seq in range(first, first + 80):
            record = record_bytes({"type": "drop", "session": "o", "exchange": seq, "reason": "full"})
            c.execute("INSERT INTO events VALUES (?, 'o', ?, ?)", (seq, record, leaf(record)))
        if not wrong:
            rechain(c)

    report = tampered(closed(), drop_many)
    assert report.ok is not wrong
    if wrong:
        assert 50 < len(report.findings) < 60
    else:
        assert codes(report) == ["drop_present"] * 50
        with closing(sqlite3.connect(report.path)) as connection:
            assert report.events == events(connection)[-1][0] + 1
