"""From the events of an exchange back to what was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.events import Delivery, Recorded, Request
from faultwire.tape.records import fault_fired, headers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.tape.records import Event


@dataclass(slots=True)
class Gathered:
    """The events of one exchange so far."""

    request: Event | None = None
    forwarded: Event | None = None
    heads: dict[str, Event] = field(default_factory=dict)
    pieces: dict[str, list[Event]] = field(default_factory=dict)
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
                self.pieces.setdefault(event["side"], []).append(event["body"])
        elif kind == "stream_chunk":
            self.pieces.setdefault(event["side"], []).append(event["body"])
        elif kind == "fault":
            self.lines += event["lines"]
        elif kind == "redaction":
            self.redactions.update(event["counts"])
        elif kind == "end":
            self.end = event


def recorded(gathered: Gathered, blob: Callable[[str], bytes]) -> Recorded | None:
    """The exchange as a value; None where not even its request is on the tape.

    `blob` gives the bytes of a digest. Raises KeyError, TypeError or ValueError on events that lack
    what their kind must have.
    """
    said = gathered.request
    if said is None:
        return None
    end = gathered.end
    upstream = _delivery(gathered.heads.get("upstream"), gathered.pieces.get("upstream", ()), blob)
    delivered = upstream
    touched = end["touched"] if end else "delivered" in gathered.pieces
    if touched or "delivered" in gathered.heads:
        head = gathered.heads.get("delivered") or gathered.heads.get("upstream")
        side = "delivered" if touched else "upstream"
        delivered = _delivery(head, gathered.pieces.get(side, ()), blob)
    return Recorded(
        session=said["session"],
        number=said["exchange"],
        kind=said["kind"],
        protocol=said["protocol"],
        provider=said["provider"],
        tool=said["tool"],
        request=_request(said, gathered.pieces.get("request", ()), blob),
        upstream=upstream,
        delivered=delivered,
        ending=end["ending"] if end else "open",
        error=end["error"] if end else None,
        attempt=said["attempt"],
        started_ms=said["started_ms"],
        duration_ms=(end["duration_ns"] if end else _last_ns(gathered)) / 1e6,
        faults=tuple(fault_fired(line) for line in gathered.lines),
    )


def forwarded(gathered: Gathered, blob: Callable[[str], bytes]) -> Request | None:
    """The request as it went upstream, where faults changed it."""
    pieces = gathered.pieces.get("forwarded", ())
    return _request(gathered.forwarded, pieces, blob) if gathered.forwarded else None


def _request(event: Event, pieces: Iterable[Event], blob: Callable[[str], bytes]) -> Request:
    bodies = [piece["blob"] for piece in ((event["body"],) if event["body"] else pieces)]
    return Request(
        method=event["method"],
        scheme=event["scheme"],
        host=event["host"],
        port=event["port"],
        path=event["path"],
        headers=headers_of(event["headers"]),
        body=b"".join(map(blob, bodies)) if bodies else None,
    )


def _delivery(head: Event | None, pieces: Iterable[Event], blob: Callable[[str], bytes]) -> Delivery | None:
    if head is None:
        return None
    body: list[bytes] = []
    chunks: list[tuple[int, int]] = []
    offset = 0
    for piece in pieces:
        body.append(blob(piece["blob"]))
        for size, at_ns in piece["chunks"]:
            offset += size
            chunks.append((offset, at_ns))
    return Delivery(
        status=head["status"],
        reason=head["reason"],
        headers=headers_of(head["headers"]),
        body=b"".join(body),
        chunks=tuple(chunks),
    )


def _last_ns(gathered: Gathered) -> int:
    """When an exchange without an end was last heard of."""
    instants: list[Any] = [head["at_ns"] for head in gathered.heads.values()]
    for pieces in gathered.pieces.values():
        instants += [chunk[1] for piece in pieces for chunk in piece.get("chunks", ())]
    return max(instants, default=0)
