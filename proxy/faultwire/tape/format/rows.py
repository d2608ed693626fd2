"""Inserting many rows with few statements.

Each step of a statement gives up the interpreter lock, and taking it back from a busy event loop
may cost milliseconds. So rows go in by the handful, not one by one.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from faultwire.tape.format.blobs import BlobRow

EventRow = tuple[int, str, bytes, bytes]
"""seq, session, record, hash."""
_GROUPS = (64, 16, 4, 1)


def insert_events(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> None:
    """Add events; a number that is taken already is an error."""
    _insert(connection, "INSERT INTO events (seq, session, record, hash) VALUES ", rows)


def insert_blobs(connection: sqlite3.Connection, rows: Sequence[BlobRow]) -> None:
    """Add blobs; one that is there already stays."""
    _insert(connection, "INSERT OR IGNORE INTO blobs (digest, size, packed, data) VALUES ", rows)


def _insert(connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    start = 0
    for group in _GROUPS:
        sql = statement + ", ".join(["(?, ?, ?, ?)"] * group)
        while len(rows) - start >= group:
            connection.execute(sql, tuple(chain.from_iterable(rows[start : start + group])))
            start += group
