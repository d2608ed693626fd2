"""What SQLite's own table says of a genuine tape, and how to ask it of a file that may be none."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire._core import __version__
from faultwire.errors import TapeError, TapeTampered, TapeVersion

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x46575450
"""`FWTP`, at byte 68 of the file: how a tape is distinguished from other SQLite files."""

VERSION = 1
_MAX_SQL = 10_000
_STEPS = 200
_MOST_STEPS = 10
"""While a schema is read SQLite may take this many times `_STEPS` instructions. A tape's takes a few dozen;
one of a hundred thousand tables takes minutes."""


@cache
def schema_sql() -> str:
    """The text of `schema.sql`."""
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


@cache
def schema_digest() -> str:
    """SHA-256 of `schema.sql`, in hex; every tape's first event names it."""
    return sha256(schema_sql().encode()).hexdigest()


@cache
def expected_schema() -> tuple[tuple[str, str, str, str | None], ...]:
    """What `sqlite_schema` of a genuine tape holds: nothing but our tables and index."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema_sql())
    rows = _schema_rows(connection)
    connection.close()
    return rows


@contextmanager
def bounded(connection: sqlite3.Connection, otherwise: TapeError) -> Iterator[None]:
    """While a connection first looks at a schema: no more of it is read than a tape has.

    Raises `otherwise` where there is more.
    """
    left = _MOST_STEPS

    def tire() -> int:
        nonlocal left
        left -= 1
        return int(left < 0)

    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_SQL)
    connection.set_progress_handler(tire, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if left >= 0:
            raise
        raise otherwise from error
    finally:
        connection.set_progress_handler(None, 0)


def foreign_schema(path: Path) -> TapeTampered:
    """The error for a schema that is not a tape's."""
    return TapeTampered(
        f"tape `{path}` has a schema that no tape of version {VERSION} has", code="tape.schema_mismatch"
    )


def check_genuine(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the file is a tape of this version with exactly our schema."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise TapeError(f"`{path}` is not a tape", code="tape.unreadable")
    if version != VERSION:
        raise TapeVersion(
            f"tape `{path}` has version {version}, expected {VERSION}",
            hint=f"faultwire {__version__} reads tapes of version {VERSION}, a release with tapes of version "
            f"{version} reads this one",
        )
    if _schema_rows(connection) != expected_schema():
        raise foreign_schema(path)


def _schema_rows(connection: sqlite3.Connection) -> tuple[tuple[str, str, str, str | None], ...]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name LIMIT 16"
    return tuple(connection.execute(query).fetchall())
