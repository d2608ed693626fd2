"""What each kind of event contains. Integers, strings, booleans, null, arrays and objects only.

A fraction in a fault's settings would leave that subset, so settings are JSON text in a string.

A roll is not recorded. It is a hash over the seed and the fingerprint of the whole request, and a tape names
the seed: with the roll, a guess of what was redacted in the request could be tested at leisure. That a
fault fired, or did not, tells one bit of it at most; what a fault drew besides (a delay, a canary) is in
the ledger and on the wire anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from faultwire.events import FaultFired
from faultwire.tape.format.bypassed import bypass_members
from faultwire.tape.format.handshakes import handshake_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from faultwire.events import Bypass, Exchange, FailedHandshake, Headers, Message, Request, Response

FORMAT = 1
"""The version of the records and of the schema; a reader refuses any other."""

KINDS = frozenset(
    {"tape", "session_start", "session_end", "request", "forwarded", "response", "stream_chunk"}
    | {"trailers", "message", "fault", "drop", "redaction", "end", "seal", "note", "foreign"}
    | {"erasure"}
)
"""The values of `type` that a tape may hold."""

Event = dict[str, Any]
Chunks = list[tuple[int, int]]
"""(bytes, nanoseconds since the exchange began) of chunks, in order."""


def text_of(value: Any) -> str:
    """JSON text of any value, keys sorted: the same value, the same text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode()


def tape(origin: str, schema: str, created_ms: int, settings: Mapping[str, Any]) -> Event:
    """The first event: what this tape is."""
    return {
        "type": "tape",
        "format": FORMAT,
        "origin": origin,
        "schema": schema,
        "created_ms": created_ms,
        "settings": text_of(dict(settings)),
    }


def session_start(
    session: str, profile: str, profile_digest: str, seed: int, agent: str, started_ms: int
) -> Event:
    """A session opens. A seed may exceed 2^53, so it is text."""
    return {
        "type": "session_start",
        "session": session,
        "profile": profile,
        "profile_digest": profile_digest,
        "seed": str(seed),
        "agent": agent,
        "started_ms": started_ms,
    }


def session_end(
    session: str,
    exchanges: int,
    ended_ms: int,
    bypassed: Sequence[Bypass] = (),
    more: int = 0,
    handshakes: Sequence[FailedHandshake] = (),
) -> Event:
    """A session closes, with the number of its exchanges, and where its processes were seen connected past
    the proxy: these addresses, and so many `more`; `handshakes` are those that its clients gave up."""
    about = {"type": "session_end", "session": session, "exchanges": exchanges, "ended_ms": ended_ms}
    return {**about, **bypass_members(bypassed, more), **handshake_members(handshakes)}


def drop(session: str, number: int, reason: str) -> Event:
    """An exchange that is missing from the tape, and why."""
    return {"type": "drop", "session": session, "exchange": number, "reason": reason}


def note(code: str, text: str, *, bad: bool = False) -> Event:
    """Something that a reader of this tape must know, in words. `bad`: what it was made from is not what it
    says it is, so the tape must not verify."""
    event: Event = {"type": "note", "code": code, "text": text}
    return {**event, "bad": True} if bad else event


def foreign(
    session: str, source: str, kind: str, number: int | None, at_ms: int | None, body: Event | None = None
) -> Event:
    """An event of somebody else's log that is no exchange, as they wrote it."""
    return {
        "type": "foreign",
        "session": session,
        "source": source,
        "kind": kind,
        "number": number,
        "at_ms": at_ms,
        "body": body,
    }


def request(exchange: Exchange, request: Request, body: Event | None, started_ms: int) -> Event:
    """The request as it came from the agent."""
    return {
        "type": "request",
        "session": exchange.session,
        "exchange": exchange.number,
        "kind": exchange.kind,
        "protocol": exchange.protocol,
        "provider": exchange.provider,
        "tool": exchange.tool,
        "key": exchange.key,
        "n": exchange.n,
        "attempt": exchange.attempt,
        "method": request.method,
        "scheme": request.scheme,
        "host": request.host,
        "port": request.port,
        "path": request.path,
        "headers": request.headers,
        "body": body,
        "started_ms": started_ms,
    }


def forwarded(exchange: Exchange, request: Request, body: Event | None) -> Event:
    """The request as it went upstream, where faults changed it."""
    return {
        "type": "forwarded",
        "session": exchange.session,
        "exchange": exchange.number,
        "method": request.method,
        "scheme": request.scheme,
        "host": request.host,
        "port": request.port,
        "path": request.path,
        "headers": request.headers,
        "body": body,
    }


def response(exchange: Exchange, side: str, response: Response, headers: Headers, at_ns: int) -> Event:
    """A response head, as upstream sent it or as it was delivered (`side`)."""
    return {
        "type": "response",
        "session": exchange.session,
        "exchange": exchange.number,
        "side": side,
        "status": response.status,
        "reason": response.reason,
        "headers": headers,
        "at_ns": at_ns,
    }


def stream_chunk(exchange: Exchange, side: str, body: Event) -> Event:
    """More of a body; `side` is `request`, `forwarded`, `upstream` or `delivered`."""
    return {
        "type": "stream_chunk",
        "session": exchange.session,
        "exchange": exchange.number,
        "side": side,
        "body": body,
    }


def trailers(exchange: Exchange, side: str, headers: Headers, at_ns: int) -> Event:
    """Trailers after a body; `side` is `request`, `upstream` or `delivered`."""
    return {
        "type": "trailers",
        "session": exchange.session,
        "exchange": exchange.number,
        "side": side,
        "headers": headers,
        "at_ns": at_ns,
    }


def message(exchange: Exchange, message: Message, body: Event) -> Event:
    """One message of a WebSocket, or its end (`kind` `close`)."""
    return {
        "type": "message",
        "session": exchange.session,
        "exchange": exchange.number,
        "by": message.by,
        "kind": message.kind,
        "said_ns": message.sent_ns,
        "delivered_ns": message.delivered_ns,
        "code": message.code,
        "body": body,
    }


def body(blob: str, size: int, chunks: Chunks | None = None, dropped: int = 0) -> Event:
    """A piece of a body: its blob, and the chunks that end in it (one may begin in an earlier piece).

    `dropped` bytes came and were not stored, since nobody could look into them.
    """
    piece: Event = {"blob": blob, "size": size}
    if chunks is not None:
        piece["chunks"] = chunks
    if dropped:
        piece["dropped"] = dropped
    return piece


def fault(exchange: Exchange, faults: Iterable[FaultFired]) -> Event:
    """The ledger of one exchange."""
    return {
        "type": "fault",
        "session": exchange.session,
        "exchange": exchange.number,
        "lines": [ledger_line(line) for line in faults],
    }


def redaction(exchange: Exchange, counts: Mapping[str, int]) -> Event:
    """How many values of which class were replaced in one exchange."""
    return {
        "type": "redaction",
        "session": exchange.session,
        "exchange": exchange.number,
        "counts": dict(counts),
    }


def end(
    exchange: Exchange,
    ending: str,
    error: str | None,
    touched: bool,
    duration_ns: int,
    delivered: bool = True,
) -> Event:
    """How an exchange ended; `touched` says that the delivered body was recorded on its own, and
    `delivered` whether the agent got so much as a head."""
    return {
        "type": "end",
        "session": exchange.session,
        "exchange": exchange.number,
        "ending": ending,
        "error": error,
        "touched": touched,
        "delivered": delivered,
        "duration_ns": duration_ns,
    }


def seal(size: int, root: str, note: str, key: str) -> Event:
    """A signed checkpoint over the `size` events before this one; `key` only says which key to look for."""
    return {"type": "seal", "size": size, "root": root, "note": note, "key": key}


def erasure(blobs: Iterable[str], reason: str, by: str, at_ms: int) -> Event:
    """Which bodies were taken off the tape, by their digests: events that name them stay as they were."""
    return {"type": "erasure", "blobs": sorted(blobs), "reason": reason, "by": by, "at_ms": at_ms}


def ledger_line(line: FaultFired) -> Event:
    """A ledger line as JSON without fractions."""
    return {
        "fault": line.fault,
        "id": line.id,
        "site": line.site,
        "outcome": line.outcome,
        "reason": line.reason,
        "key": line.key,
        "n": line.n,
        "attempt": line.attempt,
        "subject": line.subject,
        "effect": line.effect,
        "settings": text_of(line.settings),
    }


def fault_fired(line: Event) -> FaultFired:
    """A ledger line back from its event."""
    return FaultFired(
        **{key: line[key] for key in _SAME},
        settings=orjson.loads(line["settings"]),
    )


def headers_of(pairs: Sequence[Sequence[str]]) -> Headers:
    """Header fields back from their event."""
    return tuple((name, value) for name, value in pairs)


_SAME = ("fault", "id", "site", "outcome", "reason", "key", "n", "attempt", "subject", "effect")
