"""A tape as JSON lines, complete and verifiable with nothing but a JSON reader and SHA-256.

The first line is `{"export":"faultwire-tape","version":1}`. Every event is its canonical record, byte
for byte: its SHA-256 behind one zero byte is the leaf of the tree and the next event's `prev`. A body
comes right before the first event that names it: `{"blob":HEX,"data":BASE64,"size":BYTES}`.
`docs/verify_tape.py` reads this format.
"""

from __future__ import annotations

import base64
from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO

import orjson

from faultwire.errors import TapeTampered
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.file import connect_reader, event_rows

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

UNIT = "events"
HEAD = b'{"export":"faultwire-tape","version":1}\n'


def write(path: Path, out: BinaryIO) -> int:
    """Write the tape at `path`; the number of its events.

    The rows are written as they are: whether they are what was recorded is for a verifier to say.
    Raises TapeError where the tape cannot be opened, TapeTampered where a row cannot be written as a line.
    """
    count = 0
    written: set[str] = set()
    out.write(HEAD)
    with closing(connect_reader(path)) as connection:
        for _, _, record, _ in event_rows(connection):
            name = _body(record)
            if name is not None and name not in written:
                written.add(name)
                _blob(connection, name, out)
            if b"\n" in record:
                raise TapeTampered(f"event {count} of tape `{path}` is not one line of JSON")
            out.write(record + b"\n")
            count += 1
    return count


def _body(record: bytes) -> str | None:
    if b'"body":{' not in record:
        return None
    try:
        body = orjson.loads(record).get("body")
    except ValueError:
        return None
    name = body.get("blob") if isinstance(body, dict) else None
    return name if isinstance(name, str) else None


def _blob(connection: sqlite3.Connection, name: str, out: BinaryIO) -> None:
    try:
        digest = bytes.fromhex(name)
    except ValueError:
        return
    row = connection.execute("SELECT size, packed, data FROM blobs WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        return
    data = unpack(*row)
    text = base64.b64encode(data)
    out.write(b'{"blob":"%s","data":"%s","size":%d}\n' % (digest.hex().encode(), text, len(data)))
