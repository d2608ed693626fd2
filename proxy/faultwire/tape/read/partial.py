"""What can be read of a tape whose end is gone, for who replays it all the same.

Nothing is proven of it, unlike of what `salvage` keeps: rows are taken as they are. But an exchange is
there with all of its bodies or not at all, so that none is answered by half of what was recorded.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from faultwire.errors import TapeError, TapeTampered
from faultwire.tape.evidence.salvage import to_its_end
from faultwire.tape.format import file
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from faultwire.tape.format.blobs import BlobRow
    from faultwire.tape.format.events import Event
    from faultwire.tape.format.rows import EventRow

_LAST = (1 << 63) - 1
"""The greatest number of a row (SQLite, "ROWIDs and the INTEGER PRIMARY KEY")."""
Row = TypeVar("Row", bound=tuple[Any, ...])
Exchange = tuple[str, int]
"""An exchange's session and number."""
_OF_PAGE = 256
"""One page has fewer rows: an event has a hash of 32 bytes, a body a digest, and a page 8192."""


def partial_copy(source: Path, target: Path) -> None:
    """Copy what can be read of `source` to a new file, which no verifier takes for a tape.

    Raises TapeTampered where that is no exchange, TapeVersion or TapeError where `source` is no tape that is
    read here, or `target` cannot be written.
    """
    with to_its_end(source, target) as place, closing(_connected(place, source)) as connection:
        try:
            file.create(target, lambda draft: _copy(connection, source, draft))
        except (OSError, sqlite3.Error) as error:
            raise TapeError(f"cannot write `{target}`: {error}", code="tape.create") from error


def _connected(place: Path, source: Path) -> sqlite3.Connection:
    try:
        return file.connect_reader(place)
    except TapeError as error:
        if isinstance(error, TapeTampered) or isinstance(error.__cause__, sqlite3.Error):
            raise _nothing(source) from error  # not even the schema is there
        raise


def _nothing(source: Path) -> TapeTampered:
    return TapeTampered(
        f"tape `{source}` is cut off, and no exchange on it can be read", code="tape.unreadable"
    )


def _copy(connection: sqlite3.Connection, source: Path, draft: sqlite3.Connection) -> None:
    draft.execute("BEGIN IMMEDIATE")
    kept: set[str] = set()
    for blob in _blobs(connection):
        insert_blobs(draft, [blob])
        kept.add(blob[0].hex())
    whole = _whole(connection, source, kept)
    for row, event in _events(connection, source):
        exchange = _of(event)
        if exchange in whole or (exchange is None and _has_body(event, kept)):
            insert_events(draft, [row])
    # Its first event states what it is.
    if not whole or draft.execute("SELECT count(*) FROM events WHERE seq = 0").fetchone() == (0,):
        raise _nothing(source)
    draft.execute("COMMIT")


def _whole(connection: sqlite3.Connection, source: Path, kept: set[str]) -> set[Exchange]:
    """The exchanges that have all of their events, to the end, and all of their bodies."""
    under_way: set[Exchange] = set()
    ended: set[Exchange] = set()
    torn: set[Exchange] = set()
    expected = 0
    for (seq, *_), event in _events(connection, source):
        if seq != expected:  # what is missing may be of any of them
            torn |= under_way
        expected = seq + 1
        exchange = _of(event)
        if exchange is None:
            continue
        under_way.add(exchange)
        if event["type"] == "end":
            under_way.discard(exchange)
            ended.add(exchange)
        if not _has_body(event, kept):
            torn.add(exchange)
    return ended - torn


def _of(event: Event) -> Exchange | None:
    return (event["session"], event["exchange"]) if "exchange" in event and "session" in event else None


def _has_body(event: Event, kept: set[str]) -> bool:
    body = event.get("body")
    return not body or body["blob"] in kept


def _events(connection: sqlite3.Connection, source: Path) -> Iterator[tuple[EventRow, Event]]:
    """The events within reach. What is none (half a page reads as rows of nothing) is left out."""
    for row in _reached(lambda last: file.event_rows(connection, "WHERE seq > ?", (last,))):
        try:
            event = event_of(row[2], source, row[0])
        except TapeTampered:
            continue
        yield row, event


def _blobs(connection: sqlite3.Connection) -> Iterator[BlobRow]:
    """The bodies within reach, each of them whole. By their rows: the index lies all over the file."""
    query = "SELECT rowid, digest, size, packed, data FROM blobs WHERE rowid > ? ORDER BY rowid"
    for _, digest, size, packed, data in _reached(lambda last: connection.execute(query, (last,))):
        try:
            sound: bool = sha256(unpack(size, packed, data)).digest() == digest
        except TapeTampered:
            continue
        if sound:
            yield digest, size, packed, data


def _reached(rows: Callable[[int], Iterator[Row]]) -> Iterator[Row]:
    """Rows by number, past a page of them that is gone; `rows` gives those after a number."""
    last, failed = -1, 0
    while failed < _OF_PAGE:
        try:
            for row in rows(last):
                if row[0] <= last:  # a page of something else
                    break
                last, failed = row[0], 0
                yield row
            else:
                return
        except sqlite3.DatabaseError:
            pass
        if last >= _LAST:
            return
        last, failed = last + 1, failed + 1
