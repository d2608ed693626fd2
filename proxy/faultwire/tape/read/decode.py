"""From the events of an exchange back to what was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeError
from faultwire.events import Delivery, Message, Recorded, Request
from faultwire.tape.format.arrivals import arrival_of
from faultwire.tape.format.events import fault_fired, headers_of
from faultwire.tape.read.call_identity import CallNumbering, StoredRecorded
from faultwire.tape.read.lazy_bodies import MAX_BODY, LazyBody, StoredDelivery, StoredRequest

if TYPE_CHECKING:
    from faultwire.tape.format.events import Event
    from faultwire.tape.read.call_identity import CallNumbers
    from faultwire.tape.read.lazy_bodies import Fetch


@dataclass(slots=True)
class EventDecoder:
    """The events of one exchange so far."""

    request: Event | None = None
    forwarded: Event | None = None
    heads: dict[str, Event] = field(default_factory=dict)
    pieces: dict[str, LazyBody] = field(default_factory=dict)
    trailers: dict[str, Event] = field(default_factory=dict)
    messages: list[Event] = field(default_factory=list)
    lines: list[Event] = field(default_factory=list)
    redactions: dict[str, int] = field(default_factory=dict)
    end: Event | None = None

    def add(self, event: Event) -> None:
        """Take one event of this exchange; kinds that are not known here say nothing of it."""
        kind = event["type"]
        if kind == "request":
            self.request = event
        elif kind == "forwarded":
            self.forwarded = event
        elif kind == "response":
            self.heads[event["side"]] = event
            if event.get("body"):
                self.pieces.setdefault(event["side"], LazyBody()).add(event["body"])
        elif kind == "stream_chunk":
            self.pieces.setdefault(event["side"], LazyBody()).add(event["body"])
        elif kind == "trailers":
            self.trailers[event["side"]] = event
        else:
            self._add_rest(kind, event)

    def _add_rest(self, kind: str, event: Event) -> None:
        if kind == "message":
            self.messages.append(event)
        elif kind == "fault":
            self.lines += event["lines"]
        elif kind == "redaction":
            self.redactions.update(event["counts"])
        elif kind == "end":
            self.end = event


def decode(gathered: EventDecoder, blob: Fetch, numbers: CallNumbers | None = None) -> Recorded | None:
    """The exchange as a value; None where not even its request is on the tape.

    `numbers` has seen the exchanges before it in the session; without it, every call that nobody
    numbered when it was made counts as the first of its kind.
    `blob` gives the bytes of a digest once a body is asked for. Raises KeyError, TypeError or ValueError
    on events that lack what their kind must have.
    """
    event = gathered.request
    if event is None:
        return None
    end = gathered.end
    request = _request(event, gathered.pieces.get("request"), blob)
    upstream = _delivery(gathered, "upstream", "upstream", blob)
    delivered = upstream
    touched = end["touched"] if end else "delivered" in gathered.pieces
    if touched or "delivered" in gathered.heads:
        head = "delivered" if "delivered" in gathered.heads else "upstream"
        delivered = _delivery(gathered, head, "delivered" if touched else "upstream", blob)
    if end is not None and not end.get("delivered", True):
        delivered = None
    found = Recorded(
        session=event["session"],
        number=event["exchange"],
        kind=event["kind"],
        protocol=event["protocol"],
        provider=event["provider"],
        tool=event["tool"],
        request=request,
        upstream=upstream,
        delivered=delivered,
        ending=end["ending"] if end else "open",
        error=end["error"] if end else None,
        attempt=event["attempt"],
        started_ms=event["started_ms"],
        http2=event.get("http") == "2",
        arrival=arrival_of(event),
        duration_ms=(end["duration_ns"] if end else _last_ns(gathered)) / 1e6,
        faults=tuple(fault_fired(line) for line in gathered.lines),
        messages=_messages(gathered.messages, blob),
    )
    numbers = numbers or CallNumbering()
    what = {name: event[name] for name in _NUMBERED}
    return StoredRecorded.of(found, numbers, numbers.take(what, request, upstream))


def forwarded(gathered: EventDecoder, blob: Fetch) -> Request | None:
    """The request as it went upstream, where faults changed it."""
    pieces = gathered.pieces.get("forwarded")
    return _request(gathered.forwarded, pieces, blob) if gathered.forwarded else None


def _request(event: Event, pieces: LazyBody | None, blob: Fetch) -> Request:
    head = Request(
        method=event["method"],
        scheme=event["scheme"],
        host=event["host"],
        port=event["port"],
        path=event["path"],
        headers=headers_of(event["headers"]),
    )
    if event["body"]:
        pieces = LazyBody()
        pieces.add({"chunks": (), **event["body"]})
    return head if pieces is None else StoredRequest.of(head, pieces, blob)


def _messages(events: list[Event], blob: Fetch) -> tuple[Message, ...]:
    size = sum(event["body"]["size"] for event in events)
    if size > MAX_BODY:
        raise TapeError(
            f"the messages of an exchange have {size} bytes, expected at most {MAX_BODY} to be read",
            code="tape.body_size",
        )
    return tuple(_message(event, blob) for event in events)


def _message(event: Event, blob: Fetch) -> Message:
    pieces = LazyBody()
    pieces.add({"chunks": (), **event["body"]})
    return Message(
        by=event["by"],
        kind=event["kind"],
        data=pieces.read(blob),
        sent_ns=event["said_ns"],
        delivered_ns=event["delivered_ns"],
        code=event["code"],
    )


def _delivery(gathered: EventDecoder, head_of: str, side: str, blob: Fetch) -> Delivery | None:
    """A response with the head of one side and the body of one."""
    head, pieces = gathered.heads.get(head_of), gathered.pieces.get(side)
    if head is None:
        return None
    ends = gathered.trailers.get(side)
    trailers = headers_of(ends["headers"]) if ends else ()
    light = Delivery(head["status"], head["reason"], headers_of(head["headers"]), b"", trailers=trailers)
    return light if pieces is None else StoredDelivery.of(light, pieces, blob)


_NUMBERED = ("session", "exchange", "kind", "protocol", "provider", "tool", "key", "n", "attempt")


def _last_ns(gathered: EventDecoder) -> int:
    """When an exchange without an end was last heard of."""
    instants: list[Any] = [head["at_ns"] for head in gathered.heads.values()]
    return max([*instants, *(pieces.last_ns for pieces in gathered.pieces.values())], default=0)
