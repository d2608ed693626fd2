"""Which kinds of personal data are on a tape: counts and places by severity, never a value.

It is what the built-in detectors find in texts as they were recorded. What they have no form for, and what is
split over the events of a stream, is not found; bodies that are no text are counted.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from faultwire import _core, patterns
from faultwire.tape.format.blobs import ENCRYPTION, unpack
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.format.events import Event

UNIT = "kinds of personal data"
SEVERITIES = ("critical", "high", "medium", "low")
Json = dict[str, Any]


def write(path: Path, out: BinaryIO) -> int:
    """Write the report of the tape at `path` as canonical JSON; the number of kinds. Raises TapeError."""
    made = report(path)
    out.write(_core.jcs(orjson.dumps(made)) + b"\n")
    return len(made["found"])


def report(path: Path) -> Json:
    """Kinds with counts and places, worst first, and what could not be looked at. Raises TapeError."""
    found: dict[tuple[str, str], Json] = {}
    made: Json = {"redacted": False, "found": [], "texts": 0, "not_text": [], "absent": []}
    with closing(connect_reader(path)) as connection:
        for seq, _, record, _ in event_rows(connection):
            event = event_of(record, path, seq)
            if event["type"] == "tape":
                made["redacted"] = (orjson.loads(event["settings"]).get("redact") or {}).get("pii") is True
            for part, text in _texts(connection, event, made):
                made["texts"] += 1
                for hit in patterns.scan(text, kinds=("pii",)):
                    key = hit.severity, hit.id
                    line = found.setdefault(
                        key, {"kind": hit.id, "severity": hit.severity, "count": 0, "places": []}
                    )
                    line["count"] += 1
                    place = _place(event, part)
                    if place not in line["places"][-2:]:
                        line["places"].append(place)
    made["found"] = [found[key] for key in sorted(found, key=lambda key: (SEVERITIES.index(key[0]), key[1]))]
    return made


def _place(event: Event, part: str) -> Json:
    return {
        "session": event.get("session"),
        "exchange": event.get("exchange"),
        "event": event["seq"],
        "side": event.get("side") or event["type"],
        "part": part,
    }


def _texts(connection: sqlite3.Connection, event: Event, made: Json) -> Iterator[tuple[str, str]]:
    """The texts of an event, and which part of it each is."""
    if isinstance(event.get("path"), str):
        yield "path", event["path"]
    for name, value in event.get("headers", ()):
        yield "header", f"{name}: {value}"
    body = event.get("body")
    if not body:
        return
    query = "SELECT size, packed, data FROM blobs WHERE digest = ?"
    row = connection.execute(query, (bytes.fromhex(body["blob"]),)).fetchone()
    if row is None:
        made["absent"].append(_place(event, "body"))
        return
    if ENCRYPTION in body:
        made["not_text"].append(_place(event, "body"))
        return
    try:
        yield "body", unpack(*row).decode()
    except UnicodeDecodeError:
        made["not_text"].append(_place(event, "body"))
