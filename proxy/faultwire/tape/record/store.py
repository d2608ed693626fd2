"""The connection that a tape is written with: the core's, which needs no interpreter, or that of `sqlite3`.

The second one is for interpreters whose SQLite the core cannot use (`shared_sqlite`), such as one that is
linked into the program with its functions hidden.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Protocol

from faultwire import _core
from faultwire.tape.format import file
from faultwire.tape.format.rows import insert_blobs, insert_events

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire._core import TapeLog


class Store(Protocol):
    """The one connection that writes a tape. Methods raise OSError or sqlite3.Error."""

    def execute(self, sql: str, /) -> object:
        """Run a statement."""

    def commit(self, log: TapeLog, /) -> None:
        """Write what waits in the log as one transaction; returns once it is on the disk."""

    def fold(self) -> bool:
        """One file instead of three; False where a reader is in the way, and the log stays beside it."""

    def close(self) -> None:
        """Let the file go; what was not committed is undone."""


def open_store(path: Path) -> Store:
    """The connection that writes the tape at `path`, which is there. Raises OSError or sqlite3.Error."""
    from faultwire.tape.record.shared_sqlite import shared  # and with it ctypes: not at the engine's start

    if not shared():
        return InterpreterStore(path)
    store = _core.TapeStore(file.writer_uri(path))
    for pragma in file.WRITER_PRAGMAS:
        store.execute(pragma)
    return store


class InterpreterStore:
    """A `Store` that `sqlite3` writes."""

    def __init__(self, path: Path) -> None:
        self._connection = file.connect_writer(path)

    def execute(self, sql: str, /) -> object:
        """Run a statement."""
        return self._connection.execute(sql)

    def commit(self, log: TapeLog, /) -> None:
        """Write the rows of the log."""
        events, blobs = log.drain()
        self._connection.execute("BEGIN IMMEDIATE")
        insert_blobs(self._connection, blobs)
        insert_events(self._connection, events)
        self._connection.execute("COMMIT")

    def fold(self) -> bool:
        """Leave WAL, where no reader is in the way."""
        try:
            self._connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
