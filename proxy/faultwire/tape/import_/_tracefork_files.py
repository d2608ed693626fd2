"""The two forms of a tracefork tape, read as what a stranger may have written.

SQLite: tables `blobs(hash, data)` with zstd data, `events(seq, kind, a, b)`, `meta(key, value)`. Envelope:
`TFTAPE\\0`, version (u16), length of the header (u32), JSON header, then a length (u32) and zstd data for
each of its `blob_hashes`, all big-endian; version 1 is JSON with Base64 bodies and has no magic.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from base64 import b64decode
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import zstandard

from faultwire.errors import TapeError
from faultwire.tape.format.sqlite_schema import bounded
from faultwire.tape.import_._api import Found
from faultwire.tape.import_._source import MAX_DOCUMENT, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SQLITE = b"SQLite format 3\0"
MAGIC = b"TFTAPE\0"
VERSIONS = range(1, 7)
MAX_BODY = 64 << 20
_STEPS = 100_000
_MAX_STEPS = 20_000
"""SQLite's machine may take this many times `_STEPS` instructions: a view in disguise never ends."""

Pair = tuple[str, str]


class Contents:
    """What a tape holds, whichever form it has. Blobs are unpacked when they are asked for."""

    def __init__(self, fetch: Callable[[str], bytes | None], found: list[Found]) -> None:
        self.agent = ""
        self.about: dict[str, Any] = {}
        self.digest: str | None = None
        self.redacted = False
        self.claims: list[tuple[str, int, int]] = []
        """(what, how many the tape claims, how many it holds)."""
        self.draws: Callable[[], Iterator[Pair]] = lambda: iter(())
        self.calls: Callable[[], Iterator[tuple[Pair, str | None]]] = lambda: iter(())
        self.tool_calls: Callable[[], Iterator[Pair]] = lambda: iter(())
        self._fetch = fetch
        self._found = found
        self._judged: set[str] = set()

    def blob(self, name: str) -> bytes | None:
        """The bytes of a blob; None where the tape does not hold it. Whether they are what their name says
        is found out."""
        packed = self._fetch(name)
        if packed is None:
            return None
        body = _unpacked(packed)
        if body is None:
            self._find(
                "tracefork_blob_malformed", name, f"blob `{name[:80]}` is no zstd data of {MAX_BODY} bytes"
            )
        elif hashlib.sha256(body).hexdigest() != name:
            self._find("tracefork_blob_mismatch", name, f"blob `{name[:80]}` does not have its hash")
        return body

    def _find(self, code: str, name: str, message: str) -> None:
        if name not in self._judged and len(self._judged) < 10_000:
            self._judged.add(name)
            self._found.append(Found(code, message))


def _unpacked(data: bytes) -> bytes | None:
    """The bytes, in steps: a reader makes room for all that it is asked for, whatever there is."""
    body = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data) as reader:
            while piece := reader.read(1 << 18):
                body += piece
                if len(body) > MAX_BODY:
                    return None
    except zstandard.ZstdError:
        return None
    return bytes(body)


# ---------------------------------------------------------------- SQLite


@contextmanager
def sqlite(path: Path, found: list[Found]) -> Iterator[Contents]:
    """A tape in SQLite's form. Raises TapeError."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        text = "there is a `-wal` file beside the tape, and what only that holds was not read"
        found.append(Found("tracefork_unfinished", text))
    try:
        # `immutable`: nothing is written beside somebody else's file, not even a lock.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise _unreadable(error) from error
    try:
        _harden(connection)
        yield _in_sqlite(connection, found)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise _unreadable(error) from error
    finally:
        connection.close()


def _harden(connection: sqlite3.Connection) -> None:
    left = [_MAX_STEPS]

    def tire() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 256 << 20)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name IN ('blobs','events','meta')"
    more = TapeError("it has more tables than a tracefork tape", code="tape.import_unreadable")
    with bounded(connection, more):
        for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}")
        tables = dict(connection.execute(query))
    connection.set_progress_handler(tire, _STEPS)
    if len(tables) != 3 or any(not str(sql).upper().startswith("CREATE TABLE") for sql in tables.values()):
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
    if version not in ("1", "2"):
        found.append(Found("tracefork_version", f"the tape has schema {version[:40]}, expected 1 or 2"))
    contents = Contents(fetch, found)
    contents.about, contents.agent = {"form": "sqlite", **meta}, meta.get("agent_name", "")
    contents.digest = meta.get("digest") or None
    contents.redacted = meta.get("content_redacted", "0") not in ("0", "")
    contents.draws = lambda: pairs("draw")
    contents.calls = lambda: ((pair, None) for pair in pairs("exchange"))
    contents.tool_calls = lambda: pairs("tool_exchange")
    query = "SELECT kind, count(*) FROM events WHERE kind NOT IN ('draw','exchange','tool_exchange')"
    for kind, count in connection.execute(f"{query} GROUP BY kind LIMIT 20"):
        found.append(Found("tracefork_event_unknown", f"{count} events are of kind {str(kind)[:80]!r}"))
    return contents


# ---------------------------------------------------------------- envelope


@contextmanager
def envelope(data: bytes, found: list[Found]) -> Iterator[Contents]:
    """A tape in one piece. Raises TapeError."""
    try:
        if data.startswith(MAGIC):
            yield _in_envelope(data, found)
        else:
            yield _in_json(data, found)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise _unreadable(error) from error


def _in_envelope(data: bytes, found: list[Found]) -> Contents:
    version, length = struct.unpack_from(">HI", data, len(MAGIC))
    at = len(MAGIC) + 6
    if version not in VERSIONS:
        raise TapeError(
            f"the envelope has version {version}, expected 1 to {VERSIONS[-1]}", code="tape.import_version"
        )
    if length > min(len(data) - at, MAX_DOCUMENT):
        raise TapeError(
            f"the header claims {length} bytes, and {len(data) - at} are there", code="tape.import_unreadable"
        )
    header = parsed(data[at : at + length])
    places = _places(data, at + length, header.get("blob_hashes", []), found)

    def fetch(name: str) -> bytes | None:
        place = places.get(name)
        return None if place is None else data[place[0] : place[1]]

    return _headed(header, Contents(fetch, found), version, found)


def _places(data: bytes, at: int, names: list[Any], found: list[Found]) -> dict[str, tuple[int, int]]:
    """Where each blob is. A length that leads past the end ends the list."""
    places: dict[str, tuple[int, int]] = {}
    for name in names:
        length = int.from_bytes(data[at : at + 4], "big")
        if at + 4 > len(data) or length > len(data) - at - 4:
            text = f"the header claims {len(names)} blobs, and the file ends in number {len(places) + 1}"
            found.append(Found("tracefork_count_mismatch", text))
            return places
        places[str(name)] = (at + 4, at + 4 + length)
        at += 4 + length
    if at < len(data):
        found.append(Found("tracefork_trailing_bytes", f"{len(data) - at} bytes follow the last blob"))
    return places


def _headed(header: dict[str, Any], contents: Contents, version: int, found: list[Found]) -> Contents:
    draws = [_pair(one) for one in header.get("draws", [])]
    calls = [_pair(one) for one in header["exchanges"]]
    tool_calls = [_pair(one) for one in header.get("tool_exchanges", [])]
    urls = header.get("request_urls") or []
    padded = [*(one if isinstance(one, str) else None for one in urls), *[None] * len(calls)]
    lists = ("draws", "exchanges", "tool_exchanges", "blob_hashes", "request_urls")
    rest = {name: value for name, value in header.items() if name not in lists}
    contents.about = {"form": "envelope", "version": version, **rest}
    contents.agent = str(header.get("agent_name") or "")
    contents.digest = header["digest"] if isinstance(header.get("digest"), str) else None
    contents.redacted = bool(header.get("content_redacted"))
    contents.draws = lambda: iter(draws)
    contents.calls = lambda: zip(calls, padded, strict=False)
    contents.tool_calls = lambda: iter(tool_calls)
    if urls:
        contents.claims.append(("request URLs", len(urls), len(calls)))
    used = {name for pair in (*calls, *tool_calls) for name in pair}
    for name in list(dict.fromkeys(map(str, header.get("blob_hashes", []))))[:10_000]:
        if name not in used:
            found.append(Found("tracefork_blob_unreferenced", f"blob `{name[:80]}` belongs to no call"))
    batches = header.get("async_batches") or []
    members = [one for batch in batches for one in batch]
    if any(not isinstance(one, int) or not 0 <= one < len(calls) for one in members):
        found.append(
            Found("tracefork_batch_mismatch", "a batch of parallel calls names one that is not there")
        )
    return contents


def _in_json(data: bytes, found: list[Found]) -> Contents:
    """Version 1: bodies themselves stand where later versions have hashes."""
    if len(data) > MAX_DOCUMENT:
        raise ValueError(f"found {len(data)} bytes of JSON, expected at most {MAX_DOCUMENT}")
    header = parsed(data)
    bodies: dict[str, bytes] = {}

    def name(text: Any) -> str:
        body = b64decode(text, validate=True)
        digest = hashlib.sha256(body).hexdigest()
        bodies[digest] = zstandard.ZstdCompressor(level=1).compress(body)
        return digest

    calls = [[name(one) for one in _pair(pair)] for pair in header["exchanges"]]
    return _headed({**header, "exchanges": calls}, Contents(bodies.get, found), 1, found)


def _pair(value: Any) -> Pair:
    first, second = value
    if not isinstance(first, str) or not isinstance(second, str):
        raise TypeError(f"found {type(first).__name__} and {type(second).__name__}, expected two texts")
    return first, second


def _unreadable(error: Exception) -> TapeError:
    return TapeError(f"it is no readable tracefork tape: {error!r}"[:300], code="tape.import_unreadable")
