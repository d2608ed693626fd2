"""What an event of each kind must hold before anybody reads meaning into it.

Hashes and seals say that an event is what somebody wrote, not that it was a recorder who wrote it. A tape may
come from anywhere, so a reader takes an event only where every member that it uses is of the type and in the
bounds that the writer keeps. Members and kinds that are not known here say nothing and are let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson

from faultwire.errors import TapeTampered
from faultwire.tape.format.arrivals import is_connection
from faultwire.tape.format.hash_chain import MAX_INT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.tape.format.events import Event

    Fits = Callable[[Any], bool]
    Members = tuple[tuple[str, Fits], ...]

MAX_MS = 253_402_300_799_999
"""The last millisecond of the year 9999: later ones are no date."""
_HEX = frozenset("0123456789abcdef")


def check(event: Event) -> None:
    """Raise ValueError, KeyError or TypeError where an event lacks what its kind must have."""
    needed, allowed = _SHAPES.get(event["type"], _OTHER)
    for name, fits in needed:
        if not fits(event[name]):
            raise ValueError(f"`{name}` of event `{event['type']}`")
    for name, fits in allowed:
        if name in event and not fits(event[name]):
            raise ValueError(f"`{name}` of event `{event['type']}`")


def event_of(record: bytes, path: Path, seq: int | None = None) -> Event:
    """The event that a row holds. Raises TapeTampered where it holds none."""
    try:
        event = orjson.loads(record)
        if not isinstance(event, dict):
            raise TypeError(f"found {type(event).__name__}")
        check(event)
    except (KeyError, TypeError, ValueError) as error:
        which = "an event" if seq is None else f"event {seq}"
        raise TapeTampered(
            f"{which} of tape `{path}` is none that a tape has: {error!r}", code="tape.record_malformed"
        ) from error
    return event


def named(value: Any) -> str | int | None:
    """What may name a session or an exchange, itself. Raises TypeError for all else, `true` included."""
    if value is None or type(value) in (str, int):
        return cast("str | int | None", value)
    raise TypeError(f"found a name that is a {type(value).__name__}")


def chunk_bytes(chunks: Any) -> int:
    """How many bytes the chunks of a body have. Raises TypeError."""
    if not isinstance(chunks, list) or not all(isinstance(chunk, list) and chunk for chunk in chunks):
        raise TypeError("`chunks` is no list of sizes and instants")
    sizes = [chunk[0] for chunk in chunks]
    if not all(type(size) is int for size in sizes):
        raise TypeError("a chunk whose size is no integer")
    return sum(sizes)


def is_digest(value: Any) -> bool:
    """Is it a SHA-256 as a tape writes it?"""
    return isinstance(value, str) and len(value) == 64 and _HEX.issuperset(value)


def is_date(value: Any) -> bool:
    """Is it an instant in milliseconds?"""
    return type(value) is int and 0 <= value <= MAX_MS


def _digests(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_digest, value))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_INT


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number_text(value: Any) -> bool:
    """A seed: an integer of any sign, as text that is no longer than one."""
    return isinstance(value, str) and len(value) <= 100 and value.removeprefix("-").isdecimal()


def _object_text(value: Any) -> bool:
    return isinstance(value, str) and isinstance(orjson.loads(value), dict)


def _or_null(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _headers(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            return False
        name, text = pair
        if not isinstance(name, str) or not isinstance(text, str):
            return False
        if not (name.isascii() and text.isascii()) and not (_latin(name) and _latin(text)):
            return False
    return True


def _latin(text: str) -> bool:
    """Are these characters that stand for bytes?"""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _body(value: Any) -> bool:
    if not isinstance(value, dict) or not _count(value["size"]) or not _count(value.get("dropped", 0)):
        return False
    if not is_digest(value["blob"]):
        return False
    chunks = value.get("chunks", [])
    return isinstance(chunks, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _count(pair[0]) and _count(pair[1]) for pair in chunks
    )


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_count, value.values()))


def _lines(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(line, dict) and all(fits(line[name]) for name, fits in _LINE) for line in value
    )


def _all(fits: Fits, *names: str) -> Members:
    return tuple((name, fits) for name in names)


_maybe_text, _maybe_count, _maybe_body = _or_null(_text), _or_null(_count), _or_null(_body)

_LINE = (
    *_all(_text, "fault", "id", "site", "outcome", "reason", "key", "settings"),
    *_all(_count, "n", "attempt"),
    *_all(_maybe_text, "subject", "effect"),
)
_SENT = (
    *_all(_text, "session", "method", "scheme", "host", "path"),
    *_all(_count, "exchange", "port"),
    ("headers", _headers),
    ("body", _maybe_body),
)
_OF_EXCHANGE = (("session", _text), ("exchange", _count))

_NEEDED: dict[str, Members] = {
    "tape": (*_all(_text, "origin", "schema"), ("settings", _object_text), ("created_ms", is_date)),
    "session_start": (
        *_all(_text, "session", "profile", "profile_digest", "agent"),
        ("seed", _number_text),
        ("started_ms", is_date),
    ),
    "session_end": (("session", _text), ("exchanges", _count), ("ended_ms", is_date)),
    "request": (
        *_SENT,
        *_all(_text, "kind", "key"),
        *_all(_maybe_text, "protocol", "provider", "tool"),
        *_all(_count, "n", "attempt"),
        ("started_ms", is_date),
    ),
    "forwarded": _SENT,
    "response": (
        *_OF_EXCHANGE,
        *_all(_text, "side", "reason"),
        *_all(_count, "status", "at_ns"),
        ("headers", _headers),
    ),
    "stream_chunk": (*_OF_EXCHANGE, ("side", _text), ("body", _body)),
    "trailers": (*_OF_EXCHANGE, ("side", _text), ("headers", _headers), ("at_ns", _count)),
    "message": (
        *_OF_EXCHANGE,
        *_all(_text, "by", "kind"),
        *_all(_maybe_count, "said_ns", "delivered_ns", "code"),
        ("body", _body),
    ),
    "fault": (*_OF_EXCHANGE, ("lines", _lines)),
    "redaction": (*_OF_EXCHANGE, ("counts", _counts)),
    "drop": (*_OF_EXCHANGE, ("reason", _text)),
    "end": (
        *_OF_EXCHANGE,
        ("ending", _text),
        ("error", _maybe_text),
        ("touched", _flag),
        ("duration_ns", _count),
    ),
    "seal": (*_all(_text, "root", "note", "key"), ("size", _count)),
    "note": _all(_text, "code", "text"),
    "foreign": (
        *_all(_text, "session", "source", "kind"),
        ("number", _maybe_count),
        ("at_ms", _or_null(is_date)),
        ("body", _body),
    ),
    "erasure": (("blobs", _digests), ("at_ms", is_date), *_all(_text, "by", "reason")),
}
_ALLOWED: Members = (
    ("session", _text),
    ("exchange", _count),
    ("body", _maybe_body),
    ("delivered", _flag),
    ("started_ms", is_date),
    ("connection", is_connection),
)
"""Members that any kind may have, an event of a later version as well."""


def _also(needed: Members) -> Members:
    names = {name for name, _ in needed}
    return tuple(one for one in _ALLOWED if one[0] not in names)


_SHAPES = {kind: (needed, _also(needed)) for kind, needed in _NEEDED.items()}
_OTHER: tuple[Members, Members] = ((), _ALLOWED)
