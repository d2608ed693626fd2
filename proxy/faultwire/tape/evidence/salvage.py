"""Saving what can still be proven of a damaged tape: its longest sound prefix, copied row by row.

The copy's events are the original's own bytes, so chain and seals in the prefix hold as before.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from faultwire.dice import token
from faultwire.errors import TapeError, TapeTampered, UsageError
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format import file, hash_chain
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.tape.evidence.findings import Finding
    from faultwire.tape.format.blobs import BlobRow
    from faultwire.tape.format.rows import EventRow

BATCH = 256
_WRITTEN_BY = 18
"""Where an SQLite file says whether there is a log beside it."""


@dataclass(slots=True)
class Salvaged:
    """What was kept, and why no more."""

    events: int = 0
    blobs: int = 0
    reason: str | None = None
    """Why the first event that was left behind is not sound; None where all were."""


def salvage(source: Path, target: Path) -> Salvaged:
    """Copy the proven prefix of `source` to a new tape.

    Raises UsageError where `target` exists or its name is not allowed, TapeError where `source`
    cannot be opened at all, TapeTampered where not even its first event is sound.
    """
    file.check_name(target)
    file.prepare_folder(target.parent)
    done = Salvaged()
    with to_its_end(source, target) as place, closing(file.connect_reader(place)) as connection:
        bad = _first_bad(place)
        try:
            file.create(target, lambda draft: _copy(_sound(connection, source, bad, done), draft, done))
        except FileExistsError as error:
            raise UsageError(f"tape `{target}` exists already", code="tape.exists") from error
        except (OSError, sqlite3.Error) as error:
            raise TapeError(f"cannot write tape `{target}`: {error}", code="tape.create") from error
    return done


@contextmanager
def to_its_end(source: Path, target: Path) -> Iterator[Path]:
    """The tape itself; of one whose end is gone a copy with nothing in that place, beside the target.

    SQLite reads no file that is shorter than it says, however much of it is there. Raises TapeError.
    """
    missing = _cut_short(source)
    if missing is None:
        yield source
        return
    draft = target.with_name(f".{target.name}.{token(4)}")
    try:
        with missing as cut, open(draft, "xb", opener=_private) as whole:
            shutil.copyfileobj(cut, whole)
            whole.truncate(_size(cut))
            whole.seek(_WRITTEN_BY)
            whole.write(b"\1\1")  # there is no log to look for
        yield draft
    except TapeError as error:
        raise type(error)(error.message.replace(str(draft), str(source)), code=error.code) from error
    except OSError as error:
        raise TapeError(f"cannot write `{draft}`: {error.strerror}", code="tape.create") from error
    finally:
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _cut_short(source: Path) -> BinaryIO | None:
    """The file where it says that it is longer, and no log beside it may hold the rest."""
    if os.path.lexists(source.with_name(source.name + "-wal")):
        return None
    try:
        fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None  # whoever opens the tape says why
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        return None
    found = os.fdopen(fd, "rb")
    if about.st_size < _size(found):
        return found
    found.close()
    return None


def _size(file: BinaryIO) -> int:
    """How many bytes an SQLite file says that it has (§1.3 of its file format), 0 where it is none."""
    file.seek(0)
    head = file.read(100)
    file.seek(0)
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        return 0
    page = int.from_bytes(head[16:18], "big")
    return (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def cut_short(source: Path) -> bool:
    """Is the file shorter than it says?"""
    missing = _cut_short(source)
    if missing is not None:
        missing.close()
    return missing is not None


def kept_of_cut(source: Path) -> Salvaged | None:
    """What could be saved of a tape whose end is gone; None where the file is as long as it says.

    Raises TapeError where it is none, or cannot be read here.
    """
    if not cut_short(source):
        return None
    done = Salvaged()
    with TemporaryDirectory() as folder, to_its_end(source, Path(folder) / source.name) as place:
        try:
            connection = file.connect_reader(place)
        except TapeError as error:
            if not isinstance(error.__cause__, (sqlite3.Error, UnicodeDecodeError)):
                raise
            done.reason = "too little is left to read any event"  # not even the schema
            return done
        with closing(connection):
            for _ in _sound(connection, source, _first_bad(place), done):
                pass
    return done


def _first_bad(source: Path) -> Finding | None:
    """The first event that a verifier would take exception to, in the order of the rows.

    Not the one with the least number: a row from a spoiled page has any.
    """
    found = (one for one in verify(source).findings if not one.is_note and one.code != "seal_untrusted")
    return next((one for one in found if one.seq is not None), None)


def _copy(rows: Iterator[tuple[EventRow, list[BlobRow]]], draft: sqlite3.Connection, done: Salvaged) -> None:
    draft.execute("BEGIN IMMEDIATE")
    events: list[EventRow] = []
    for event, blobs in rows:
        insert_blobs(draft, blobs)
        events.append(event)
        if len(events) == BATCH:
            insert_events(draft, events)
            events.clear()
    insert_events(draft, events)
    (done.blobs,) = draft.execute("SELECT count(*) FROM blobs").fetchone()
    if not done.events:
        raise TapeTampered(f"nothing can be saved: {done.reason}", code="tape.salvage")
    draft.execute("COMMIT")


def _sound(
    connection: sqlite3.Connection, source: Path, bad: Finding | None, done: Salvaged
) -> Iterator[tuple[EventRow, list[BlobRow]]]:
    """The rows up to the first that is not what was recorded, each with the blobs that it names."""
    prev = hash_chain.GENESIS
    try:
        for row in file.event_rows(connection):
            done.reason = _fault(row, source, done.events, prev)
            blob = None if done.reason else _blob(connection, event_of(row[2], source), done)
            if done.reason is None and bad is not None and bad.seq == row[0]:
                done.reason = bad.message
            if done.reason:
                return
            prev = row[3].hex()
            done.events += 1
            yield row, [blob] if blob else []
    except sqlite3.DatabaseError as error:
        done.reason = f"event {done.events} cannot be read: {error}"


def _fault(row: EventRow, source: Path, expected: int, prev: str) -> str | None:
    seq, session, record, digest = row
    if seq != expected:
        return f"event {expected} is missing"
    try:
        event = event_of(record, source, seq)
    except TapeTampered as error:
        return error.message
    fraction = hash_chain.may_have_fraction(record)
    if hash_chain.leaf(record) != digest or not hash_chain.is_canonical_event(
        record, event, fraction=fraction
    ):
        return f"event {seq} is not what was recorded"
    if event.get("prev") != prev or event.get("seq") != seq:
        return f"event {seq} does not follow the one before it"
    return None if event.get("session", "") == session else f"event {seq} is not what its row says"


def _blob(connection: sqlite3.Connection, event: dict[str, Any], done: Salvaged) -> BlobRow | None:
    body = event.get("body")
    if not body:
        return None
    digest = bytes.fromhex(body["blob"])
    row = connection.execute("SELECT digest, size, packed, data FROM blobs WHERE digest = ?", (digest,))
    found = row.fetchone()
    try:
        changed = found is None or found[1] != body["size"]
        if changed or sha256(unpack(*found[1:])).digest() != digest:
            done.reason = f"the body of event {event['seq']} is missing or changed"
    except TapeTampered as error:
        done.reason = f"the body of event {event['seq']}: {error.message}"
    return None if done.reason else found
