"""Tape files: names, rights, the one writer's lock, and what SQLite is told."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import stat
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.dice import token
from faultwire.errors import TapeError, TapeNotFound, TapeTampered, TapeVersion, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

APPLICATION_ID = 0x46575450
"""`FWTP`, at byte 68 of the file: how a tape is told from other SQLite files."""

VERSION = 1
SUFFIX = ".tape"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_MAX_VALUE = 512 * 1024 * 1024


def check_name(path: Path) -> None:
    """Raise UsageError unless the file name is `[A-Za-z0-9._-]{1,64}` and no directory reference."""
    name = path.name.removesuffix(SUFFIX)
    if not _NAME.match(name) or name.strip(".") == "":
        raise UsageError(
            f"tape name {name!r} is not allowed, expected 1 to 64 of A-Z a-z 0-9 . _ -",
            code="tape.name",
        )


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


def lock(path: Path) -> int:
    """Open a tape and take its writer's lock; the descriptor must outlive the connection.

    Raises TapeError where somebody else holds it. (Closing any descriptor of the file drops
    SQLite's own locks of this process, so it is closed last.)
    """
    fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(fd)
        raise TapeError(
            f"tape `{path.name}` is being written by another process",
            code="tape.locked",
            hint="record to another tape, or wait until that run has ended",
        ) from error
    return fd


def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Put a new tape at `path`, whole: `fill` adds its first rows.

    It is made under another name and linked into place, so that no kill leaves half a tape. Raises
    FileExistsError, OSError or sqlite3.Error.
    """
    draft = path.with_name(f".{path.name}.{token(4)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    try:
        connection = connect_writer(draft)
        try:
            lay_out(connection)
            fill(connection)
        finally:
            connection.close()
        os.link(draft, path)
    finally:
        os.unlink(draft)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def prepare_folder(folder: Path) -> None:
    """Make the folder of a tape (0700); refuse one where anybody may replace our files."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = folder.stat().st_mode
    except OSError as error:
        raise UsageError(f"cannot make folder `{folder}`: {error.strerror}", code="tape.folder") from error
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise UsageError(
            f"folder `{folder}` is writable by everybody, expected at most its owner and group",
            code="tape.folder",
            hint=f"chmod o-w {folder}",
        )


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes: WAL, and a commit returns only when it is on the disk."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=64)
    # Large pages hold several bodies each, and small commits stay small.
    connection.execute("PRAGMA page_size=8192")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    return connection


def lay_out(connection: sqlite3.Connection) -> None:
    """Make an empty file a tape."""
    connection.executescript(
        f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};\n{schema_sql()}"
    )


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection to a genuine tape. Raises TapeNotFound, TapeVersion, TapeTampered."""
    _check_file(path)
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise TapeError(f"cannot open tape `{path}`: {error}", code="tape.unreadable") from error
    try:
        _harden(connection)
        check_genuine(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise TapeError(f"`{path}` is not a readable tape: {error}", code="tape.unreadable") from error
    except TapeError:
        connection.close()
        raise
    return connection


def check_genuine(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the file is a tape of this version with exactly our schema."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise TapeError(f"`{path}` is not a tape", code="tape.unreadable")
    if version != VERSION:
        raise TapeVersion(f"tape `{path}` has version {version}, expected {VERSION}")
    if _schema_rows(connection) != expected_schema():
        raise TapeTampered(
            f"tape `{path}` has a schema that no tape of version {VERSION} has",
            code="tape.schema_mismatch",
        )


def _harden(connection: sqlite3.Connection) -> None:
    """What a hostile file could use is off: its functions, its triggers, its huge values."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA mmap_size=0")
    connection.execute("PRAGMA busy_timeout=2000")


def _check_file(path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TapeNotFound(f"no tape at `{path}`") from error
    except OSError as error:
        raise TapeError(f"cannot open tape `{path}`: {error.strerror}", code="tape.unreadable") from error
    if stat.S_ISLNK(mode):
        raise TapeError(
            f"`{path}` is a symbolic link, expected a tape itself",
            code="tape.symlink",
            hint="name the file that the link leads to",
        )
    if not stat.S_ISREG(mode):
        raise TapeError(f"`{path}` is not a file", code="tape.unreadable")


def _schema_rows(connection: sqlite3.Connection) -> tuple[tuple[str, str, str, str | None], ...]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name LIMIT 16"
    return tuple(connection.execute(query).fetchall())
