"""One exchange of a report: request, upstream response, delivered response, and fault positions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire._core import SseSplitter, sse_parse
from faultwire.checks._traffic import altered, whole
from faultwire.events import header
from faultwire.report.conversation import TEXT, TURNS, conversation_part, request_id
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Delivery, FaultFired, Headers, Recorded, Request

BODY = 4_096
"""Characters of a body that a report repeats."""
EVENTS = 60
"""Events of a stream that a report lists."""
EVENT = 240
"""Characters of one event."""
NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one exchange is repeated: characters of a body, of an event and of a message; events of a
    stream; turns of a conversation."""

    body: int = BODY
    events: int = EVENTS
    event: int = EVENT
    text: int = TEXT
    turns: int = TURNS


OF_A_REPORT = Limits()


def exchange_part(
    exchange: Recorded, origin_ms: int, forwarded: Request | None = None, limits: Limits = OF_A_REPORT
) -> dict[str, Any]:
    """The exchange as the report shows it; `origin_ms` is when its invocation's first one began, and
    `forwarded` what was sent on where that is not what the agent sent."""
    upstream, delivered = exchange.upstream, exchange.delivered
    changed = altered(exchange)
    ended = "complete" if whole(exchange) else exchange.ending
    return {
        "number": exchange.number,
        "kind": exchange.kind,
        "protocol": exchange.protocol,
        "provider": exchange.provider,
        "tool": exchange.tool,
        "attempt": exchange.attempt,
        "ending": ended,
        "error": clip(exchange.error, 500) if exchange.error and ended != "complete" else None,
        "offset_ms": exchange.started_ms - origin_ms,
        "duration_ms": round(exchange.duration_ms, 1),
        "faults": [_fault(fault) for fault in exchange.faults],
        "request": _request(exchange.request, limits),
        "sent": _request(forwarded, limits) if forwarded and forwarded != exchange.request else None,
        "upstream": _delivery(upstream, limits) if upstream and changed else None,
        "upstream_called": upstream is not None,
        "delivered": _delivery(delivered, limits) if delivered else None,
        "changed": changed,
        "conversation": (
            part := conversation_part(exchange, forwarded, text=limits.text, turns=limits.turns)
        ),
        "request_id": request_id(part) if exchange.upstream is not None else None,
        "stream": _stream(upstream, delivered, limits),
    }


def _fault(fault: FaultFired) -> dict[str, Any]:
    return {
        "id": fault.id,
        "fault": fault.fault,
        "site": fault.site,
        "outcome": fault.outcome,
        "reason": clip(fault.reason, 500),
        "effect": clip(fault.effect, 500) if fault.effect else None,
        "subject": fault.subject,
        "roll": fault.unit,
        "settings": fault.settings,
    }


def _request(request: Request, limits: Limits) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": clip(request.url, 2000),
        "headers": _headers(request.headers),
        "body": _body(request.body, limits.body),
    }


def _delivery(delivery: Delivery, limits: Limits) -> dict[str, Any]:
    return {
        "status": delivery.status,
        "reason": clip(delivery.reason, 200),
        "headers": _headers(delivery.headers),
        "body": _body(delivery.body, limits.body),
    }


def _headers(headers: Headers) -> list[list[str]]:
    return [[clip(name, 200), clip(value, 500)] for name, value in headers[:100]]


def _body(body: bytes | None, limit: int) -> dict[str, Any]:
    if not body:
        return {"bytes": 0, "text": ""}
    text = body[: limit * 4].decode("utf-8", "replace")
    if len(body) <= limit * 4 and body[:1] in b"{[":
        text = _pretty(text)
    return {"bytes": len(body), "text": clip(text, limit)}


def _pretty(text: str) -> str:
    """Indented JSON, or the text unchanged."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _stream(upstream: Delivery | None, delivered: Delivery | None, limits: Limits) -> dict[str, Any] | None:
    """Events of a server-sent stream: each delivered one with its instant, then what was withheld."""
    source = delivered or upstream
    if source is None or "event-stream" not in (header(source.headers, "content-type") or ""):
        return None
    got, rest = _events(delivered.body) if delivered else ([], b"")
    sent = _events(upstream.body)[0] if upstream else got
    shown = got[: limits.events]
    words = event_words(sent if len(sent) > len(got) else got, limits)
    # Only where what was delivered is the beginning of what was sent, the rest was withheld.
    cut = delivered is not None and upstream is not None and upstream.body.startswith(delivered.body)
    withheld = sent[len(got) :] if cut else []
    return {
        "said": len(sent),
        "delivered": len(got),
        "partial_bytes": len(rest),
        "events": [
            {"at_ms": _instant(delivered, end), "text": words(event)}
            for event, end in zip(shown, _ends(shown), strict=True)
        ],
        "events_not_shown": len(got) - len(shown),
        "withheld": [words(event) for event in withheld[: limits.events]],
        "withheld_not_shown": max(0, len(withheld) - limits.events),
    }


def _events(body: bytes) -> tuple[list[bytes], bytes]:
    splitter = SseSplitter()
    events = splitter.feed(body)
    rest = splitter.finish()
    if rest.endswith((b"\r\r", b"\n\r")):
        return [*events, rest], b""
    return events, rest


def _ends(events: list[bytes]) -> list[int]:
    ends, position = [], 0
    for event in events:
        position += len(event)
        ends.append(position)
    return ends


def _instant(delivery: Delivery | None, end: int) -> float | None:
    """Milliseconds from the request's begin until the chunk that completed `end` bytes."""
    chunks = delivery.chunks if delivery else ()
    found = next((at for offset, at in chunks if offset >= end), None)
    return None if found is None else round(found / NS_PER_MS, 1)


def event_words(events: list[bytes], limits: Limits) -> Callable[[bytes], str]:
    """How to show an event of this stream: without the members that all of its objects repeat."""
    first = events[: limits.events * 2]
    read = {event: _object(event) for event in first}
    found = [value for event in first if (value := read[event]) is not None]
    repeated = (
        {k: v for k, v in found[0].items() if all(k in o and o[k] == v for o in found)} if found else {}
    )

    def words(event: bytes) -> str:
        value = read[event] if event in read else _object(event)
        if value is None or len(found) < 2:
            return clip(_data(event)[: limits.event * 4].decode("utf-8", "replace"), limits.event)
        rest = {k: v for k, v in value.items() if k not in repeated}
        return clip(json.dumps(rest, ensure_ascii=False, separators=(",", ":")), limits.event)

    return words


def _object(event: bytes) -> dict[str, Any] | None:
    data = _data(event)
    try:
        value = json.loads(data) if len(data) <= BODY * 4 else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _data(event: bytes) -> bytes:
    parsed = sse_parse(event)
    return event if parsed is None else parsed[1]
