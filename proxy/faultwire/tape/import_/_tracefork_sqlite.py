"""tracefork's SQLite files, opened read only and bounded.

Tables `blobs(hash, data)` with zstd data, `events(seq, kind, a, b)`, `meta(key, value)`; schema 3 has JSON
lists `request_urls`, `response_status` and `response_content_type` in `meta`.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeError
from faultwire.tape.format.sqlite_schema import bounded
from faultwire.tape.import_._api import Found
from faultwire.tape.import_._source import parsed
from faultwire.tape.import_._tracefork_files import MAX_BODY, WITNESSES, Contents, unreadable, witnessed
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._tracefork_files import Pair

SQLITE = b"SQLite format 3\0"
SCHEMAS = ("1", "2", "3")
_STEPS = 100_000
_MAX_STEPS = 20_000
"""SQLite's machine may take this many times `_STEPS` instructions: a view in disguise never ends."""


@contextmanager
def sqlite(path: Path, found: list[Found]) -> Iterator[Contents]:
    """A tape in SQLite's form. Raises TapeError."""
    with opened_sqlite(path, found, {"blobs", "events", "meta"}) as connection:
        yield _in_sqlite(connection, found)


def is_store(path: Path) -> bool:
    """Is this SQLite file a store of many tapes? Raises TapeError."""
    with opened_sqlite(path, [], None) as connection:
        query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tapes'"
        return connection.execute(query).fetchone() is not None


@contextmanager
def opened_sqlite(path: Path, found: list[Found], tables: set[str] | None) -> Iterator[sqlite3.Connection]:
    """The file, read only and bounded; `tables` must all be there. Raises TapeError."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        text = "there is a `-wal` file beside the tape, and what only that holds was not read"
        found.append(Found("tracefork_unfinished", text))
    try:
        # `immutable`: nothing is written beside somebody else's file, not even a lock.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise unreadable(error) from error
    try:
        _harden(connection, tables)
        yield connection
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise unreadable(error) from error
    finally:
        connection.close()


def _harden(connection: sqlite3.Connection, expected: set[str] | None) -> None:
    left = [_MAX_STEPS]

    def tire() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 256 << 20)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
    more = TapeError("it has more tables than a tracefork tape", code="tape.import_unreadable")
    with bounded(connection, more):
        for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}")
        tables = dict(connection.execute(query))
    connection.set_progress_handler(tire, _STEPS)
    named = {name: str(tables.get(name)).upper() for name in expected or ()}
    if any(not sql.startswith("CREATE TABLE") for sql in named.values()):
        raise TapeError("it has not the tables of a tracefork tape", code="tape.import_unreadable")


def _in_sqlite(connection: sqlite3.Connection, found: list[Found]) -> Contents:
    def fetch(name: str) -> bytes | None:
        row = connection.execute("SELECT data FROM blobs WHERE hash = ?", (name,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def pairs(kind: str) -> Iterator[Pair]:
        query = "SELECT a, b FROM events WHERE kind = ? ORDER BY seq"
        return ((str(a), str(b)) for a, b in connection.execute(query, (kind,)))

    meta = {
        str(k)[:200]: str(v)[:10_000] for k, v in connection.execute("SELECT key, value FROM meta LIMIT 100")
    }
    version = meta.get("schema_version", "1")
    if version not in SCHEMAS:
        found.append(Found("tracefork_version", f"the tape has schema {version[:40]}, expected 1 to 3"))
    contents = Contents(fetch, found)
    contents.oldest, contents.framed = version == "1", version not in ("1", "2")
    contents.about, contents.agent = {"form": "sqlite", **meta}, meta.get("agent_name", "")
    contents.digest = meta.get("digest") or None
    contents.redacted = meta.get("content_redacted", "0") not in ("0", "")
    contents.draws = lambda: pairs("draw")
    lists = {name: _listed(connection, name, found) for name in WITNESSES}
    (count,) = connection.execute("SELECT count(*) FROM events WHERE kind = 'exchange'").fetchone()
    contents.calls = lambda: witnessed(pairs("exchange"), lists)
    contents.claims += [(text, len(lists[name]), count) for name, text in WITNESSES.items() if lists[name]]
    contents.tool_calls = lambda: pairs("tool_exchange")
    query = "SELECT kind, count(*) FROM events WHERE kind NOT IN ('draw','exchange','tool_exchange')"
    for kind, count in connection.execute(f"{query} GROUP BY kind LIMIT 20"):
        are = "is" if count == 1 else "are"
        found.append(
            Found("tracefork_event_unknown", f"{counted(count, 'event')} {are} of kind {str(kind)[:80]!r}")
        )
    return contents


def _listed(connection: sqlite3.Connection, name: str, found: list[Found]) -> list[Any]:
    """A list that `meta` holds as JSON; empty where it does not."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
    if row is None:
        return []
    try:
        value = parsed(str(row[0]).encode("utf-8", "surrogatepass")) if len(str(row[0])) < MAX_BODY else None
    except ValueError:
        value = None
    if not isinstance(value, list):
        found.append(Found("tracefork_witness_malformed", f"`{name}` in the table `meta` is no list"))
        return []
    return value
