"""Tape files: names, rights, the one writer's lock, and SQLite's settings."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.dice import token
from faultwire.errors import TapeError, TapeNotFound, UsageError
from faultwire.tape.format.sqlite_schema import (
    APPLICATION_ID as APPLICATION_ID,
    VERSION as VERSION,
    bounded,
    check_genuine,
    foreign_schema,
    schema_digest as schema_digest,
    schema_sql,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUFFIX = ".tape"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_MAX_VALUE = 512 * 1024 * 1024
_MAX_JOURNAL = 1024 * 1024
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""What a rollback journal ends with that names a file which SQLite would delete."""


def check_name(path: Path) -> None:
    """Raise UsageError unless the file name is `[A-Za-z0-9._-]{1,64}` and no directory reference."""
    name = path.name.removesuffix(SUFFIX)
    if not _NAME.match(name) or name.strip(".") == "":
        raise UsageError(
            f"tape name {name!r} is not allowed, expected 1 to 64 of A-Z a-z 0-9 . _ -",
            code="tape.name",
        )


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


SEAL = ".seal"
"""What the name of a tape's detached seal ends in."""


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
            # Only the file itself is linked; `close` folds the log into it, too, but hides that it could not.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        os.link(draft, path)
        # One that a tape of this name left behind would speak against the new one.
        path.with_name(path.name + SEAL).unlink(missing_ok=True)
    finally:
        for end in ("", "-wal", "-shm"):
            draft.with_name(draft.name + end).unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Return once the names in a folder are on the disk. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


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


WRITER_PRAGMAS = (
    # Large pages hold several bodies each, and small commits stay small.
    "PRAGMA page_size=8192",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA wal_autocheckpoint=4000",
)
"""Of whoever writes a tape: WAL, and a commit returns only when it is on the disk."""


def writer_uri(path: Path) -> str:
    """How whoever writes a tape opens it.

    A disk that loses its power while it writes a sector may spoil what was in that sector before, too:
    without `psow` no commit shares a sector with what comes after it, at the price of one page more.
    """
    return f"{path.absolute().as_uri()}?psow=0"


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes a tape, or its draft."""
    connection = sqlite3.connect(
        writer_uri(path), uri=True, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    for pragma in WRITER_PRAGMAS:
        connection.execute(pragma)
    return connection


def lay_out(connection: sqlite3.Connection) -> None:
    """Make an empty file a tape."""
    connection.executescript(
        f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};\n{schema_sql()}"
    )


class _Reader(sqlite3.Connection):
    """A connection that leaves no empty log behind.

    A tape whose writer could not fold its log (somebody was reading it) says that it has one. To read it,
    SQLite makes a log and an index of it, and a connection that may only read leaves both there, as if
    somebody were writing the tape.
    """

    tape: Path | None = None
    """Once it is known to be genuine."""

    def close(self) -> None:
        super().close()
        tape, self.tape = self.tape, None
        if tape is not None:
            _remove_log(tape)


def log_of(path: Path) -> Path:
    """Where the write-ahead log of a tape is, while it has one."""
    return path.with_name(path.name + "-wal")


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection to a genuine tape. Raises TapeNotFound, TapeVersion, TapeTampered."""
    _check_file(path)
    _roll_back(path)
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, factory=_Reader
        )
    except sqlite3.Error as error:
        raise TapeError(f"cannot open tape `{path}`: {error}", code="tape.unreadable") from error
    try:
        with bounded(connection, foreign_schema(path)):
            _harden(connection)
            check_genuine(connection, path)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # SQLite quotes a bad schema's own bytes
        connection.close()
        raise TapeError(f"`{path}` is not a readable tape: {error}", code="tape.unreadable") from error
    except TapeError:
        connection.close()
        raise
    connection.tape = path.absolute()
    return connection


def _remove_log(path: Path) -> None:
    """Let SQLite remove a log that is empty, which it does unless anybody has the tape open.

    No byte of the tape changes. What cannot be removed now does no harm: the next to read it tries again.
    """
    try:
        if os.lstat(log_of(path)).st_size or os.path.lexists(path.with_name(path.name + "-journal")):
            return
    except OSError:
        return
    uri = f"{path.as_uri()}?mode=rw"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
        connection.execute("PRAGMA schema_version")


def event_rows(
    connection: sqlite3.Connection, where: str = "", arguments: tuple[Any, ...] = ()
) -> Iterator[tuple[int, str, bytes, bytes]]:
    """seq, session, record and hash of events, by number.

    In a damaged file a value may have any type, whatever the schema says: then it is given as empty,
    which has no right hash.
    """
    query = f"SELECT seq, session, record, hash FROM events {where} ORDER BY seq"
    for seq, session, record, digest in connection.execute(query, arguments):
        yield (
            seq,
            session if isinstance(session, str) else "",
            record if isinstance(record, bytes) else b"",
            digest if isinstance(digest, bytes) else b"",
        )


def _roll_back(path: Path) -> None:
    """Undo the last step of a writer that was killed while it folded its log into the file.

    SQLite does so by itself, but only for who may write. A journal of ours is one page and names no
    other file; no other one is touched. Raises TapeError.
    """
    journal = path.with_name(path.name + "-journal")
    try:
        size = os.lstat(journal).st_size
        if not size:
            return
        if size > _MAX_JOURNAL or journal.read_bytes().endswith(_NAMES_ANOTHER):
            raise TapeError(f"`{journal}` is no journal of a tape", code="tape.unreadable")
        fd = lock(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise TapeError(f"cannot recover tape `{path}`: {error.strerror}", code="tape.unreadable") from error
    except TapeError as error:
        if error.code == "tape.locked":  # its writer lives, and is about to end
            return
        raise
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            with bounded(connection, foreign_schema(path)):
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        raise TapeError(f"cannot recover tape `{path}`: {error}", code="tape.unreadable") from error
    finally:
        os.close(fd)


def _harden(connection: sqlite3.Connection) -> None:
    """What a hostile file could use is off: its functions, its triggers, its huge values."""
    # Text that is no UTF-8 is a finding, not a crash of whoever reads the row.
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
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
    for end in ("-wal", "-shm", "-journal"):  # SQLite opens what is there, and would wait for a pipe
        beside = path.with_name(path.name + end)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(beside).st_mode):
                raise TapeError(f"`{beside}` is not a file", code="tape.unreadable")
