"""A batch of events as an SDK sends it: what of it may be believed to be one.

    {"session_id": …, "seal": …, "events": [{"event_type", "sequence_number", "timestamp",
     "timestamp_monotonic", "payload", "event_hash"?, "prev_event_hash"?}, …]}

Types are those of ELS 1.0: an SDK sends the first eight, the others are a server's own.
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - fixed patterns, over a name and digests
from dataclasses import dataclass
from typing import Any, NoReturn

from faultwire.ingestion.refusal import Refused
from faultwire.text import safe

MAX_BODY = 16 << 20
MAX_EVENTS = 20_000
"""More than its SDK buffers by default (1,000; its LangChain callback 10,000)."""
MAX_TIMESTAMP = 64
OF_SDK = frozenset(
    ("SESSION_START", "SESSION_END", "LLM_CALL", "LLM_RESPONSE", "TOOL_CALL", "TOOL_RESULT", "TOOL_ERROR")
) | {"LOG_DROP"}
OF_SERVER = frozenset(("CHAIN_SEAL", "CHAIN_BROKEN", "REDACTION", "FORENSIC_FREEZE"))
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?\Z")
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_FIELDS = ("event_type", "sequence_number", "timestamp", "payload")


@dataclass(frozen=True, slots=True)
class Reported:
    """One event. `claimed` and `claimed_before` are the SDK's own hashes of it and of the one before."""

    kind: str
    number: int
    timestamp: str
    payload: dict[str, Any]
    claimed: str | None = None
    claimed_before: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one session, in order; `seal` asks for the end of it."""

    session: str
    events: tuple[Reported, ...]
    seal: bool = False


def batch_of(data: bytes) -> Batch:
    """The batch in a request's body. Raises Refused."""
    document = _parsed(data)
    if not isinstance(document, dict):
        raise Refused(400, "INVALID_PAYLOAD", "found no JSON object, expected `session_id` and `events`")
    events, session, seal = (document.get(name) for name in ("events", "session_id", "seal"))
    if session is None or events is None:
        missing = "session_id" if session is None else "events"
        raise Refused(400, "MISSING_REQUIRED_FIELD", f"the batch has no `{missing}`")
    if not isinstance(session, str) or not _NAME.match(session):
        expected = "1 to 64 letters, digits, `.`, `_` and `-`"
        raise Refused(400, "INVALID_PAYLOAD", f"`session_id` is {_short(session)}, expected {expected}")
    if not isinstance(events, list) or not events:
        raise Refused(400, "MISSING_REQUIRED_FIELD", "`events` holds no event, expected a list of them")
    if len(events) > MAX_EVENTS:
        text = f"found {len(events)} events, expected at most {MAX_EVENTS} in a batch"
        raise Refused(413, "BATCH_TOO_LARGE", text)
    if not isinstance(seal, bool | None):
        raise Refused(400, "INVALID_PAYLOAD", f"`seal` is {_short(seal)}, expected true or false")
    return Batch(session, tuple(_event(at, one) for at, one in enumerate(events)), bool(seal))


def _event(at: int, value: Any) -> Reported:
    if not isinstance(value, dict):
        raise Refused(400, "INVALID_PAYLOAD", f"event {at} of the batch is no JSON object", event=at)
    for name in _FIELDS:
        if value.get(name) is None:
            text = f"event {at} of the batch has no `{name}`"
            raise Refused(400, "MISSING_REQUIRED_FIELD", text, event=at)
    kind, number, timestamp, payload = (value[name] for name in _FIELDS)
    _kind(at, kind)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 53:
        _bad(at, "sequence_number", number, "an integer from 1")
    if not isinstance(timestamp, str) or len(timestamp) > MAX_TIMESTAMP:
        _bad(at, "timestamp", timestamp, "an instant of ISO 8601")
    if not isinstance(payload, dict):
        _bad(at, "payload", payload, "a JSON object")
    claimed, before = (_hash(at, value, name) for name in ("event_hash", "prev_event_hash"))
    return Reported(kind, number, timestamp, payload, claimed, before)


def _kind(at: int, kind: Any) -> None:
    if isinstance(kind, str) and kind in OF_SERVER:
        text = f"event {at} of the batch is a {kind}, which only the service itself may write"
        raise Refused(403, "SERVER_AUTHORITY_VIOLATION", text, event=at)
    if not isinstance(kind, str) or kind not in OF_SDK:
        _bad(at, "event_type", kind, f"one of {', '.join(sorted(OF_SDK))}")


def _hash(at: int, value: dict[str, Any], name: str) -> str | None:
    found = value.get(name)
    if found is not None and not (isinstance(found, str) and _HASH.match(found)):
        _bad(at, name, found, "64 digits of a SHA-256 in lower case, or nothing")
    return found


def _bad(at: int, name: str, value: Any, expected: str) -> NoReturn:
    text = f"`{name}` of event {at} of the batch is {_short(value)}, expected {expected}"
    raise Refused(400, "INVALID_PAYLOAD", text, event=at)


def _short(value: Any) -> str:
    """Never the value of what may be a secret: of anything but short text and numbers only its type."""
    if isinstance(value, int | None) or (isinstance(value, str) and len(value) <= 40):
        return f"`{safe(str(value))}`"
    return f"a {type(value).__name__}"


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else "it is no JSON in UTF-8"
        raise Refused(400, "INVALID_PAYLOAD", f"the body cannot be read: {why}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """RFC 8785, 3.1: an object whose names are not unique has no canonical form."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
