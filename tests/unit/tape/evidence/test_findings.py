"""Tapes made row by row, and all that a verifier finds on them: code, event and message, to the letter."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.tape.evidence.findings import Finding, VerifyReport, evidence_class
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import schema_digest
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, root

Made = Callable[..., VerifyReport]
Found = list[tuple[str, int | None, str]]

OPEN = {"type": "session_start", "session": "s"}
CLOSE = {"type": "session_end", "session": "s"}
ASKED = {"type": "request", "session": "s", "exchange": 1}
ENDED = {"type": "end", "session": "s", "exchange": 1}
UNSEALED = ("seal_missing", None, "the tape has no seal")
BODY = b'{"ok":1}'
NAME = sha256(BODY).hexdigest()


def head(**settings: Any) -> dict[str, Any]:
    """The first event of a tape."""
    return {
        "type": "tape",
        "origin": "p/t",
        "schema": schema_digest(),
        "settings": orjson.dumps(settings).decode(),
    }


def answer(side: Any = "upstream", size: int = 8, chunks: Any = None, name: str = NAME) -> dict[str, Any]:
    """A response whose body came in pieces."""
    body = {"blob": name, "size": size} | ({} if chunks is None else {"chunks": chunks})
    return {"type": "response", "session": "s", "exchange": 1, "side": side, "body": body}


@pytest.fixture
def made(closed: Callable[[], Path]) -> Made:
    """Writes these events, with their numbers, links and hashes, over those of a tape, and verifies it."""

    def make(
        *events: dict[str, Any] | bytes, blobs: Sequence[bytes] = (), change: str = "", values: Any = ()
    ) -> VerifyReport:
        path = closed()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM events")
            connection.execute("DELETE FROM blobs")
            prev = GENESIS
            for seq, event in enumerate(events):
                if isinstance(event, bytes):
                    record, session = event, "s"
                else:
                    record = record_bytes({"seq": seq, "prev": prev, **event})
                    session = event.get("session", "")
                row = (seq, session, record, leaf(record))
                connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
                prev = leaf(record).hex()
            for data in blobs:
                row = (sha256(data).digest(), len(data), 0, data)
                connection.execute("INSERT INTO blobs VALUES (?, ?, ?, ?)", row)
            if change:
                connection.execute(change, values)
        return verify(path)

    return make


def found(report: VerifyReport) -> Found:
    """All but that it has no seal, which comes last but for what belongs to no event."""
    rows = [(one.code, one.seq, one.message) for one in report.findings]
    assert rows.count(UNSEALED) == 1
    return [row for row in rows if row != UNSEALED]


def test_a_whole_tape_has_nothing_but_its_counts(made: Made) -> None:
    whole = (head(), OPEN, ASKED, answer(chunks=[[8, 1]]), ENDED, {**ASKED, "exchange": 2})
    rest = ({**ENDED, "exchange": 2}, CLOSE, {**OPEN, "session": "t"}, {**CLOSE, "session": "t"})
    report = made(*whole, *rest, blobs=[BODY])
    assert found(report) == []
    counts = (report.events, report.blobs, report.sessions, report.exchanges, report.origin)
    assert counts == (10, 1, 2, 2, "p/t")
    with closing(sqlite3.connect(report.path)) as connection:
        hashes = [row[0] for row in connection.execute("SELECT hash FROM events ORDER BY seq")]
    assert report.root == root(hashes).hex()


# ---------------------------------------------------------------- what an event means

PAST = [{"address": "93.184.216.34", "port": 443, "transport": "tcp", "host": None}]
MALFORMED = "lacks what its kind must have"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([{"type": "other"}], [("record_malformed", 1, "event 1 is of no kind that a tape has")]),
        (
            [{"type": "note", "code": "gap", "text": "line 3 is missing", "bad": True}],
            [("import_finding", 1, "gap: line 3 is missing")],
        ),
        ([{"type": "note", "code": "gap", "text": "line 3", "bad": False}], []),
        ([{"type": "note", "code": "gap", "text": "line 3"}], []),
        ([{**OPEN, "bad": True}, CLOSE], []),
        (
            [{"type": "drop", "session": "s", "exchange": 4, "reason": "full"}],
            [("drop_present", 1, "exchange 4 is missing: full")],
        ),
        (
            [OPEN, {**CLOSE, "bypassed": PAST}],
            [("bypass_present", 2, "session `s` went past the proxy: 93.184.216.34:443")],
        ),
        (
            [OPEN, {**CLOSE, "bypassed_more": 2}],
            [("bypass_present", 2, "session `s` went past the proxy: 2 addresses")],
        ),
        (
            [OPEN, {**CLOSE, "bypassed": PAST, "bypassed_more": 1}],
            [("bypass_present", 2, "session `s` went past the proxy: 93.184.216.34:443, and 1 more")],
        ),
        ([OPEN, {**CLOSE, "bypassed_more": "2"}], None),
        ([OPEN], [("session_open", 1, "session `s` never ended")]),
        ([CLOSE], []),
        ([ENDED], []),
        (
            [OPEN, ASKED, CLOSE],
            [("exchange_open", 2, "exchange 1 of session `s` never ended")],
        ),
        (
            [OPEN, ASKED, ENDED, answer(), CLOSE],
            [("event_after_end", 4, "event 4 comes after the end of exchange 1 of `s`")],
        ),
        (
            [OPEN, CLOSE, ASKED, ENDED],
            [
                ("event_after_end", 3, "event 3 comes after the end of session `s`"),
                ("event_after_end", 4, "event 4 comes after the end of session `s`"),
            ],
        ),
        (
            [OPEN, ASKED, answer(chunks=[[3, 1], [4, 2]]), ENDED, CLOSE],
            [
                (
                    "record_malformed",
                    4,
                    "the upstream chunks before event 4 have 7 bytes, expected 8",
                )
            ],
        ),
        (
            [OPEN, ASKED, answer(chunks=[[3, 1]]), answer(chunks=[[13, 2]]), ENDED, CLOSE],
            [],  # as pieces of one body
        ),
        (
            [
                OPEN,
                ASKED,
                answer("upstream", chunks=[[9, 1]]),
                answer("delivered", chunks=[[7, 1]]),
                ENDED,
                CLOSE,
            ],
            [
                ("record_malformed", 5, "the upstream chunks before event 5 have 9 bytes, expected 8"),
                ("record_malformed", 5, "the delivered chunks before event 5 have 7 bytes, expected 8"),
            ],
        ),
        (
            [OPEN, ASKED, answer(size=7), ENDED, CLOSE],
            [("blob_mismatch", 3, f"blob `{NAME}` has 8 bytes, expected 7")],
        ),
        (
            [OPEN, ASKED, answer(name="00" * 32), ENDED, CLOSE],
            [("blob_missing", 3, f"blob `{'00' * 32}` is missing")],
        ),
    ],
)
def test_what_an_event_means(made: Made, events: list[dict[str, Any]], expected: Found | None) -> None:
    report = made(head(), *events, blobs=[BODY])
    rows = [row for row in found(report) if row[0] != "blob_unreferenced"]
    if expected is None:
        ((code, seq, message),) = rows
        assert (code, seq) == ("record_malformed", 2)
        assert message.startswith(f"event 2 {MALFORMED}: ")
    else:
        assert rows == expected


def test_a_body_that_no_event_names_comes_last(made: Made) -> None:
    report = made(head(), blobs=[BODY])
    assert report.findings[-1] == Finding("blob_unreferenced", f"blob `{NAME}` belongs to no event")
    assert not report.ok


# ---------------------------------------------------------------- what is no event


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"{", "event 1 is not canonical JSON"),
        (b"[]", "event 1 is not canonical JSON"),
        (b'{"seq":1, "type":"x"}', "event 1 is not canonical JSON"),
    ],
)
def test_a_record_that_is_none(made: Made, record: bytes, message: str) -> None:
    rows = found(made(head(), record))
    assert rows[0] == ("record_malformed", 1, message)
    if b"type" not in record:
        assert rows[1:] == []


def test_an_event_that_lacks_members(made: Made) -> None:
    ((code, seq, message),) = found(made(head(), {"session": "s"}))
    assert (code, seq, message) == ("record_malformed", 1, f"event 1 {MALFORMED}: KeyError('type')")


def test_an_event_in_another_row_and_after_another_event(made: Made) -> None:
    other = "ab" * 32
    report = made(head(), {**OPEN, "prev": other}, CLOSE)
    with closing(sqlite3.connect(report.path)) as connection:
        (before,) = connection.execute("SELECT hash FROM events WHERE seq = 0").fetchone()
    assert found(report) == [("chain_broken", 1, f"event 1 follows {other}, expected {before.hex()}")]
    report = made(head(), {**OPEN, "seq": 7}, CLOSE)
    assert found(report) == [("row_mismatch", 1, "event 1 is not what its row says")]


def test_a_row_with_another_hash_or_session(made: Made) -> None:
    report = made(
        head(), OPEN, CLOSE, change="UPDATE events SET hash = ? WHERE seq = 2", values=(b"\xab" * 32,)
    )
    with closing(sqlite3.connect(report.path)) as connection:
        (record,) = connection.execute("SELECT record FROM events WHERE seq = 2").fetchone()
    message = f"event 2 hashes to {leaf(record).hex()}, found {'ab' * 32}"
    assert found(report) == [("hash_mismatch", 2, message)]
    report = made(head(), OPEN, CLOSE, change="UPDATE events SET session = 't' WHERE seq = 1")
    assert found(report) == [("row_mismatch", 1, "event 1 is not what its row says")]


def test_events_that_are_missing(made: Made) -> None:
    assert found(made()) == [("sequence_gap", 0, "event 0 is missing, the tape is empty")]
    rows = found(made(head(), OPEN, CLOSE, change="DELETE FROM events WHERE seq = 1"))
    assert rows[0] == ("sequence_gap", 1, "event 1 is missing, found 2")


@pytest.mark.parametrize("first", [{"schema": "0"}, {"type": "note", "code": "c", "text": "t"}])
def test_a_first_event_that_names_no_schema(made: Made, first: dict[str, Any]) -> None:
    rows = found(made({**head(), **first}))
    assert rows == [("schema_mismatch", 0, "the first event does not name this version's schema")]


# ---------------------------------------------------------------- what is no row


@pytest.mark.parametrize(
    ("change", "values", "message"),
    [
        ("UPDATE blobs SET data = ?", (b"other!!!",), f"has SHA-256 {sha256(b'other!!!').hexdigest()}"),
        ("UPDATE blobs SET size = ?", (7,), ": "),
        ("UPDATE blobs SET packed = ?", (1,), ": "),
    ],
)
def test_a_body_that_is_another(made: Made, change: str, values: Any, message: str) -> None:
    events = (head(), OPEN, ASKED, answer(), ENDED, CLOSE)
    code, seq, words = found(made(*events, blobs=[BODY], change=change, values=values))[0]
    assert (code, seq) == ("blob_mismatch", None)
    if message == ": ":
        assert words.startswith(f"blob `{NAME}`: ")
        assert len(words) > len(f"blob `{NAME}`: ")
    else:
        assert words == f"blob `{NAME}` {message}"


def test_a_schema_that_is_another_and_pages_that_cannot_be_read(closed: Callable[[], Path]) -> None:
    path = closed()
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (a)")
    (finding,) = verify(path).findings
    assert (finding.code, finding.seq) == ("schema_mismatch", None)
    assert str(path) in finding.message
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    finding = verify(path).findings[-1]
    assert (finding.code, finding.seq) == ("damaged", None)
    assert finding.message.startswith("a row cannot be read: ")


# ---------------------------------------------------------------- what it is worth


def report_of(*findings: Finding, **members: Any) -> VerifyReport:
    return VerifyReport(Path("t.tape"), findings=list(findings), **members)


NOTE = Finding("drop_present", "exchange 4 is missing: full", 3)
BAD = Finding("hash_mismatch", "event 7 hashes to", 7)
WHOLE = Finding("blob_mismatch", "blob `ab`: damaged")


def test_the_first_bad_event_is_none_that_is_merely_noted() -> None:
    assert report_of(NOTE, BAD, WHOLE, Finding("chain_broken", "x", 9)).first_bad == 7
    assert report_of(NOTE).first_bad is None
    assert report_of(WHOLE).first_bad is None


def test_the_class_of_a_tape_and_why() -> None:
    assert evidence_class(report_of()) == ("AUTHORITATIVE", [])
    assert evidence_class(report_of(NOTE, BAD)) == (None, ["it does not verify"])
    assert evidence_class(report_of(NOTE)) == ("PARTIAL", ["exchange 4 is missing: full"])
    assert evidence_class(report_of(NOTE, imported="har")) == (
        "NON_AUTHORITATIVE",
        ["it was imported from har, not recorded by the proxy"],
    )
    assert evidence_class(report_of(made_by="merge")) == (
        "PARTIAL",
        ["it was made from other tapes with `merge`"],
    )


def test_a_report_as_json() -> None:
    members = {"events": 9, "blobs": 2, "sessions": 3, "exchanges": 4, "root": "ab", "origin": "p/t"}
    report = report_of(NOTE, BAD, key="p+1", trusted=True, **members)
    assert report.dump() == {
        "path": "t.tape",
        "ok": False,
        **members,
        "key": "p+1",
        "trusted": True,
        "class": None,
        "reasons": ["it does not verify"],
        "first_bad": 7,
        "findings": [
            {"code": "drop_present", "seq": 3, "message": "exchange 4 is missing: full", "note": True},
            {"code": "hash_mismatch", "seq": 7, "message": "event 7 hashes to", "note": False},
        ],
    }


def test_the_first_event_states_what_a_tape_was_made_from(made: Made) -> None:
    report = made(head(imported="har", made_by="merge"))
    assert (report.imported, report.made_by) == ("har", "merge")
    assert (made(head()).imported, made(head()).made_by) == (None, None)


# ---------------------------------------------------------------- very many

MOST = 50


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many findings as are listed."""
    monkeypatch.setattr("faultwire.tape.evidence.verify.MAX_FINDINGS", MOST)


DROPPED = [{"type": "drop", "session": "s", "exchange": number, "reason": "full"} for number in range(80)]


@pytest.mark.usefixtures("few")
def test_behind_very_many_notes_stands_what_is_wrong_and_what_is_of_no_event(made: Made) -> None:
    report = made(head(), *DROPPED, {"type": "other"})
    listed = [one.code for one in report.findings]
    assert listed == ["drop_present"] * MOST + ["record_malformed", "seal_missing"]
    assert (report.ok, report.events) == (False, 82)


@pytest.mark.usefixtures("few")
def test_after_very_many_that_are_wrong_no_more_is_read(made: Made) -> None:
    report = made(head(), *[{"type": "other"}] * 80)
    listed = [one.code for one in report.findings]
    assert listed == ["record_malformed"] * (MOST + 1) + ["damaged", "seal_missing"]
    assert report.events == MOST + 2
    assert len(report.root) == 64


@pytest.mark.usefixtures("few")
def test_after_very_many_bodies_that_are_wrong_no_more_are_read(made: Made) -> None:
    bodies = [b"%d" % number for number in range(80)]
    report = made(head(), blobs=bodies, change="UPDATE blobs SET data = X'00'")
    assert [one.code for one in report.findings].count("blob_mismatch") == MOST + 1
    assert report.blobs == MOST + 1


def test_a_row_before_the_first(made: Made) -> None:
    row = "INSERT INTO events VALUES (-1, 's', X'7b7d', X'00')"
    assert found(made(head(), change=row))[0] == ("sequence_gap", 0, "event 0 is missing, found -1")
