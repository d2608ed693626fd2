"""Ways to change a tape that an agent's run left behind, and what a verifier should find of each.

What is true of a tape is what was changed in it; nothing is read from the verifier. Whoever changes a tape
here may hold the key of the project, so that each change stands alone, or be a stranger.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tape_copies import OTHERS, STRANGER, Copy, Event, first

from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.format import events as tape_events
from faultwire.tape.format.hash_chain import leaf


@dataclass(frozen=True)
class Case:
    """What is done to the tape, and the templates of the sentences that are true of it then. `verified_in`
    is the folder of the command: that of the project, or one in which no key is trusted."""

    change: Callable[[Copy], object]
    true: tuple[str, ...]
    options: tuple[str, ...] = ()
    verified_in: str = "project"


# ---------------------------------------------------------------- rows


def _swapped(copy: Copy, index: str = "events_by_session") -> None:
    """Rows that the index over sessions does not name."""
    with closing(sqlite3.connect(copy.path)) as rows, rows:
        kept = rows.execute(
            "SELECT seq, session, record, hash FROM events WHERE seq BETWEEN 7 AND 11"
        ).fetchall()
        schema = rows.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        rows.execute("DELETE FROM events WHERE seq BETWEEN 7 AND 11")
        rows.execute("PRAGMA writable_schema=ON")
        rows.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    with closing(sqlite3.connect(copy.path)) as rows, rows:
        rows.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", kept)
        rows.execute("PRAGMA writable_schema=ON")
        rows.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", schema)


def _unindexed(copy: Copy) -> None:
    copy.path.chmod(0o600)
    _swapped(copy)
    copy.seal_file(copy.key)


def _erase(copy: Copy, events: list[Event], count: int, *, gone: bool = True) -> None:
    """An event says of so many bodies that they were erased."""
    named = dict.fromkeys(event["body"]["blob"] for event in events if event.get("body"))
    blobs = sorted(list(named)[:count])
    events.append(tape_events.erasure(blobs, "asked", "somebody", 1_795_000_000_000))
    for blob in blobs if gone else ():
        copy.rows("DELETE FROM blobs WHERE digest = ?", values=(bytes.fromhex(blob),))


def _damaged(copy: Copy) -> None:
    """The page of the first events is overwritten."""
    with closing(sqlite3.connect(copy.path)) as rows:
        (size,) = rows.execute("PRAGMA page_size").fetchone()
        place = rows.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").fetchone()[0]
    copy.path.chmod(0o600)
    data = bytearray(copy.path.read_bytes())
    data[(place - 1) * size : place * size] = b"\xff" * size
    copy.path.write_bytes(data)
    copy_seal = seal_path(copy.path)
    copy_seal.chmod(0o600)


def _another_record(copy: Copy, record: Callable[[bytes], bytes]) -> None:
    with closing(sqlite3.connect(copy.path)) as rows:
        (old,) = rows.execute("SELECT record FROM events WHERE seq = 12").fetchone()
    new = record(old)
    copy.unseal()
    copy.rows("UPDATE events SET record = ?, hash = ? WHERE seq = 12", values=(new, leaf(new)))
    copy.seal()


def _unhashed(copy: Copy) -> None:
    copy.rows("UPDATE events SET hash = zeroblob(32) WHERE seq = 3")
    copy.seal_file(copy.key)


def _another_session(copy: Copy) -> None:
    copy.rows("UPDATE events SET session = 'x' WHERE seq = 3")
    copy.seal_file(copy.key)


def _body(copy: Copy, statement: str, *values: Any) -> None:
    copy.rows(statement, values=values)
    copy.seal_file(copy.key)


def _sized(events: list[Event]) -> None:
    """A body is one byte longer than the blob that it names, its chunks too."""
    body = events[first(events, "stream_chunk")]["body"]
    body["size"] += 1
    body["chunks"][0][0] += 1


def _moved(events: list[Event], kind: str, behind: str) -> None:
    event = events.pop(first(events, kind))
    events.insert(first(events, behind) + 1, event)


def _without(kind: str) -> Callable[[list[Event]], object]:
    return lambda events: events.pop(first(events, kind))


def _with(kind: str, **members: Any) -> Callable[[list[Event]], object]:
    return lambda events: events[first(events, kind)].update(members)


DROP = {"type": "drop", "session": "exec", "exchange": 3, "reason": "the queue was full"}
PAST = [{"address": "192.0.2.7", "port": 443, "transport": "tcp", "host": None}]
MORE = {"type": "note", "code": "later", "text": "more", "bad": False}
LONG = 64 * 1024 + 1
NEW_BODY = b"a body that no event names"
REST = "the events after event {} are under no seal"
NO_SEAL = "the tape has no seal"
BESIDE = "there is no `{}` beside the tape"
STRANGE = "the seal at event {} is signed by `{}`, expected {}"
OTHER_FILE = "the file is not the one that `{}` seals"

CASES: dict[str, Case] = {
    "as it was recorded": Case(lambda copy: None, ()),
    "chained and sealed anew": Case(lambda copy: copy.remake(lambda events: None), ()),
    # ------------------------------------------------------------ what was recorded
    "a page is overwritten": Case(_damaged, ("a row cannot be read: {}",)),
    "a body is added": Case(
        lambda copy: _body(
            copy, "INSERT INTO blobs VALUES (?, ?, 0, ?)", sha256(NEW_BODY).digest(), len(NEW_BODY), NEW_BODY
        ),
        ("blob `{}` belongs to no event",),
    ),
    "a body is another": Case(
        lambda copy: _body(copy, "UPDATE blobs SET data = zeroblob(size) WHERE rowid = 1"),
        ("blob `{}` has SHA-256 {}",),
    ),
    "a body of another size": Case(
        lambda copy: copy.remake(_sized), ("blob `{}` has {} bytes, expected {}",)
    ),
    "a body is gone": Case(
        lambda copy: _body(copy, "DELETE FROM blobs WHERE rowid = 1"), ("blob `{}` is missing",)
    ),
    "a body was erased": Case(
        lambda copy: copy.remake(lambda events: _erase(copy, events, 1)),
        ("{} erased on {} by {}: {}", "body was"),
    ),
    "two bodies were erased": Case(
        lambda copy: copy.remake(lambda events: _erase(copy, events, 2)),
        ("{} erased on {} by {}: {}", "bodies were"),
    ),
    "an erasure of a body that is there": Case(
        lambda copy: copy.remake(lambda events: _erase(copy, events, 1, gone=False)),
        ("the erasure at event {} names a body that is not erased",),
    ),
    "a body is no zstd data": Case(
        lambda copy: _body(copy, "UPDATE blobs SET packed = 1 WHERE rowid = 1"), ("blob `{}`: {}",)
    ),
    "all events are gone": Case(
        lambda copy: copy.rows("DELETE FROM events"),
        (
            "event 0 is missing, the tape is empty",
            NO_SEAL,
            "blob `{}` belongs to no event",
            "`{}` seals {}, expected a seal on the tape as well",
        ),
    ),
    "a chunk behind the end of its exchange": Case(
        lambda copy: copy.remake(lambda events: _moved(events, "redaction", "end")),
        ("event {} comes after the end of exchange {} of `{}`",),
    ),
    "an end behind the session's": Case(
        lambda copy: copy.remake(lambda events: events.append(events.pop(first(events, "redaction")))),
        ("event {} comes after the end of session `{}`",),
    ),
    "an event is gone": Case(
        lambda copy: _body(copy, "DELETE FROM events WHERE seq = 5"),
        (
            "event {} is missing, found {}",
            "event {} follows {}, expected {}",
            "the seal at event {} signs another log than this",
        ),
    ),
    "a hash is another": Case(_unhashed, ("event {} hashes to {}, found {}",)),
    "a record with a blank": Case(
        lambda copy: _another_record(copy, lambda record: record.replace(b":", b": ", 1)),
        ("event {} is not canonical JSON",),
    ),
    "a row of another session": Case(
        _another_session,
        ("event {} is not what its row says",),
    ),
    "an event of another kind": Case(
        lambda copy: copy.remake(_with("redaction", type="dream")),
        ("event {} is of no kind that a tape has",),
    ),
    "an event without its members": Case(
        lambda copy: copy.remake(lambda events: events[first(events, "end")].pop("exchange")),
        ("event {} lacks what its kind must have: {}", "exchange {} of session `{}` never ended"),
    ),
    "an exchange was dropped": Case(
        lambda copy: copy.remake(lambda events: events.insert(-1, dict(DROP))),
        ("exchange {} is missing: {}",),
    ),
    "an end is gone": Case(
        lambda copy: copy.remake(_without("end")), ("exchange {} of session `{}` never ended",)
    ),
    "the session's end is gone": Case(
        lambda copy: copy.remake(_without("session_end")), ("session `{}` never ended",)
    ),
    "a connection past the proxy": Case(
        lambda copy: copy.remake(_with("session_end", bypassed=PAST)), ("session `{}` {}",)
    ),
    "another schema": Case(
        lambda copy: copy.remake(_with("tape", schema="00" * 32)),
        ("the first event does not name this version's schema",),
    ),
    "rows that the index leaves out": Case(
        _unindexed, ("the index over sessions does not name the events that are there",)
    ),
    "chunks of another size": Case(
        lambda copy: copy.remake(
            lambda events: events[first(events, "stream_chunk")]["body"].update(chunks=[[1, 5]])
        ),
        ("the {} chunks before event {} have {} bytes, expected {}",),
    ),
    # ------------------------------------------------------------ the seal in the tape
    "no seal": Case(lambda copy: copy.unseal(), (NO_SEAL,)),
    "events behind the seal": Case(lambda copy: (copy.unseal(), copy.seal(after=(MORE,))), (REST,)),
    "a seal with more members": Case(
        lambda copy: (copy.unseal(), copy.seal(members={"by": "somebody"})),
        ("the seal at event {} has other parts than a seal",),
    ),
    "a seal that is no note": Case(
        lambda copy: (copy.unseal(), copy.seal(note="none\n")),
        ("the seal at event {} is malformed: {}", BESIDE),
    ),
    "a seal that names another key": Case(
        lambda copy: (copy.unseal(), copy.seal(members={"key": str(STRANGER.verifier)})),
        ("the seal at event {} is not signed by the key that it names",),
    ),
    "a seal that names no key": Case(
        lambda copy: (copy.unseal(), copy.seal(STRANGER, members={"key": "nonsense"})),
        ("the seal at event {} names no key: {}",),
    ),
    "a seal of another log": Case(
        lambda copy: (copy.unseal(), copy.seal(note={"root": bytes(32)})),
        ("the seal at event {} signs another log than this",),
    ),
    "a stranger's seal": Case(lambda copy: (copy.unseal(), copy.seal(STRANGER)), (STRANGE,)),
    "a stranger's seal where no key is trusted": Case(
        lambda copy: (copy.unseal(), copy.seal(STRANGER)),
        (STRANGE, "a trusted key, and none is trusted here"),
        verified_in="elsewhere",
    ),
    "a stranger's seal and four keys": Case(
        lambda copy: (copy.unseal(), copy.seal(STRANGER)),
        (STRANGE, "{} or another of {} trusted keys"),
        options=tuple(part for key in OTHERS for part in ("--key", str(key))),
    ),
    "a stranger's seal and three keys": Case(
        lambda copy: (copy.unseal(), copy.seal(STRANGER)),
        (STRANGE,),
        options=tuple(part for key in OTHERS[:3] for part in ("--key", str(key))),
    ),
    # ------------------------------------------------------------ the seal beside the tape
    "no seal beside it": Case(lambda copy: seal_path(copy.path).unlink(), (BESIDE,)),
    "the seal of another tape": Case(
        lambda copy: _written(copy, copy.other_seal), ("`{}` belongs to another tape",)
    ),
    "a seal that is too long": Case(lambda copy: _written(copy, "x" * LONG), ("`{}` cannot be read: {}",)),
    "a seal that is none": Case(lambda copy: _written(copy, "none\n"), ("`{}` is malformed: {}",)),
    "a seal beside it by a stranger": Case(
        lambda copy: copy.seal_file(STRANGER),
        ("`{}` is signed by {}, expected a signature of `{}` like the tape",),
    ),
    "a seal of no file": Case(lambda copy: copy.seal_file(copy.key, file=None), ("`{}` seals no file",)),
    "a seal beside a tape without one": Case(
        lambda copy: copy.rows("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"),
        (NO_SEAL, "`{}` seals {}, expected a seal on the tape as well"),
    ),
    "bytes that no row shows": Case(
        lambda copy: copy.rows("CREATE TABLE more (x)", "DROP TABLE more"), (OTHER_FILE,)
    ),
}


def _written(copy: Copy, text: str) -> None:
    place = seal_path(copy.path)
    place.unlink()
    place.write_text(text)
