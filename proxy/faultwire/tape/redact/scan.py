"""Looking for secrets where none may be: on tapes, in logs, in reports, in anything to be sent away.

On a tape everything that recording would have replaced counts; in other files what is known by its shape, or
is a key of a service by the name before it. Values are never shown whole.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.tape.format.blobs import ENCRYPTION, unpack
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.redact.edit import MARK, Edit
from faultwire.tape.redact.header_fields import field_edits, has_secret_path, path_edits
from faultwire.tape.redact.known_keys import known_edits
from faultwire.tape.redact.packed import compressed_edits, packed_edits
from faultwire.tape.redact.stream import last_edits
from faultwire.tape.redact.text import edits, encodes, suspects
from faultwire.tape.redact.values import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_SQLITE = b"SQLite format 3\0"
_STEP = 4 << 20
_OVERLAP = 32 << 10
"""A file is read in steps that overlap by more than any secret is long."""

_PLACEHOLDER = re.compile(re.escape(MARK) + r"[0-9a-f]{32}")

_BY_NAME = ("key", "query")
"""Classes of what only a name makes a secret."""

KEY_FILES = frozenset({".key", ".pem", ".p12", ".pfx"})
"""Files that are keys, and lie where they belong: passed over in folders, looked at where they are named."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret: the file, where in it (an event, a blob, a byte), its class, and its two ends."""

    file: str
    place: str
    what: str
    masked: str


def files(path: Path) -> list[Path]:
    """The file at a path, or those in a folder and below, without links, sockets and key files.

    Raises TapeError where there is nothing.
    """
    if path.is_dir():
        return [one for one in sorted(path.rglob("*")) if _is_plain(one) and one.suffix not in KEY_FILES]
    if not _is_plain(path):
        raise TapeError(f"no file or folder at `{path}`", code="tape.not_found")
    return [path]


def scan(path: Path) -> list[Leak]:
    """The secrets in one file. Raises TapeError where it cannot be read, or is a damaged tape."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            head = file.read(len(_SQLITE))
            if head == _SQLITE and path.suffix == ".tape":
                return list(_on_tape(path))
            file.seek(0)
            return list(_in_steps(iter(lambda: file.read(_STEP), b""), str(path)))
    except OSError as error:
        raise TapeError(f"cannot read `{path}`: {error.strerror}", code="tape.unreadable") from error


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


# ---------------------------------------------------------------- tapes


def _on_tape(path: Path) -> Iterator[Leak]:
    encrypted = False
    with closing(connect_reader(path)) as connection:
        try:
            for seq, _, record, _ in event_rows(connection):
                event = _read(record, path, seq)
                found = _in_event(event)
                encrypted = encrypted or _is_encrypted(event)
                yield from (_leak(path, f"event {seq}", *one) for one in _secrets(found))
            if encrypted:
                raise TapeIncomplete(
                    f"tape `{path}` has encrypted bodies, which cannot be looked through",
                    code="tape.body_encrypted",
                )
            query = "SELECT digest, size, packed, data FROM blobs"
            for digest, size, packed, data in connection.execute(query):
                body = unpack(size, packed, data).decode("latin-1")
                place = f"blob {digest.hex()[:16] if isinstance(digest, bytes) else '?'}"
                yield from (_leak(path, place, *one) for one in _secrets(last_edits(body)))
        except sqlite3.Error as error:
            raise TapeTampered(f"tape `{path}` is damaged: {error}", code="tape.damaged") from error


def _is_encrypted(event: Any) -> bool:
    body = event.get("body") if isinstance(event, dict) else None
    return isinstance(body, dict) and ENCRYPTION in body


def _read(record: bytes, path: Path, seq: int) -> Any:
    try:
        return json.loads(record)
    except (ValueError, RecursionError) as error:
        raise TapeTampered(f"event {seq} of tape `{path}` is no record", code="tape.damaged") from error


def _in_event(event: Any) -> Iterator[Edit]:
    """What recording would have replaced in a record. What no record of ours has is looked at as text."""
    if not isinstance(event, dict):
        yield from _in_texts(event)
        return
    for key, value in event.items():
        if key == "headers" and isinstance(value, list):
            for pair in value:
                is_field = isinstance(pair, list) and len(pair) == 2
                yield from field_edits(str(pair[0]), str(pair[1])) if is_field else _in_texts(pair)
        elif key == "path" and isinstance(value, str):
            host = str(event.get("host"))
            yield from path_edits(value, f"https://{host}" if has_secret_path(host) else "")
        else:
            yield from _in_texts(value)


def _in_texts(value: Any) -> Iterator[Edit]:
    for text in _strings(value):
        yield from edits(text) if suspects(text) else ()


def _secrets(found: Iterable[Edit]) -> Iterator[tuple[str, str]]:
    """The class and the value of each secret, without what stands for one already."""
    for one in found:
        if one.what and _PLACEHOLDER.fullmatch(one.value) is None:
            yield one.what, one.value


def _strings(value: Any) -> Iterator[str]:
    """In their order; what somebody nested a thousand deep is read as well."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting.extend(reversed([*one.values()] if isinstance(one, dict) else one))


# ---------------------------------------------------------------- other files


def _in_steps(parts: Iterable[bytes], name: str) -> Iterator[Leak]:
    """In a text of any length: each secret once, wherever a step ends."""
    held, start, done = "", 0, 0
    for part in chain(parts, (b"",)):
        held += part.decode("latin-1")
        for at, end, what in _known(held):
            if start + at >= done and (end < len(held) or not part):
                yield _leak(name, f"byte {start + at}", what, held[at:end])
                done = start + end
        cut = max(0, len(held) - _OVERLAP)
        held, start = held[cut:], start + cut


def _known(text: str) -> list[tuple[int, int, str]]:
    spans = known_edits(text)
    for look in (packed_edits, compressed_edits):
        spans += look(text, _holds)
    if encodes(text):
        spans += (one for one in edits(text) if one.what not in _BY_NAME)
    found = [(one.start, one.end, one.what) for one in values(text)]
    found += [(one.start, one.end, one.what) for one in spans if one.what]
    return sorted(found, key=lambda one: (one[0], -one[1]))


def _holds(text: str) -> bool:
    """Is a secret in a reading of what is packed?"""
    return bool(known_edits(text)) or next(values(text), None) is not None


def _leak(file: object, place: str, what: str, value: str) -> Leak:
    shown = f"{value[:2]}…{value[-2:]}" if len(value) >= 12 and not value.startswith(MARK) else "…"
    return Leak(str(file), place, what, shown)
