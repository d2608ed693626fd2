"""The events of a stream as the server sent them, beside those that the agent got."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Response
from faultwire.report.exchange import NS_PER_MS, event_words
from faultwire.wire.framing import split
from faultwire.wire.framing.content_coding import decoded, is_encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Delivery, Recorded
    from faultwire.report.exchange import Limits

COMPARED = 2_000
"""Events that are compared one by one, without those that both sides begin and end with; where more differ,
they are put side by side by number."""
Pair = tuple[int | None, int | None]


def stream_pairs(exchange: Recorded, limits: Limits) -> dict[str, Any] | None:
    """The events by number, None where neither side is a framed stream.

    A row has `sent`, what the server sent as event `sent_no`, and `got`, what the agent got as event
    `got_no` after `at_ms` milliseconds; one of them is None where an event was withheld or made by a fault.
    `same` says that both are equal; `aligned` is False where too many differ to say which belong together.
    What all events of a stream repeat is left out of each.
    """
    upstream, delivered = _events(exchange, exchange.upstream), _events(exchange, exchange.delivered)
    if upstream is None and delivered is None:
        return None
    sent, received = upstream or [], delivered or []
    instants = _instants(exchange.delivered, received)
    aligned = max(len(sent), len(received)) - sum(_common(sent, received)) <= COMPARED
    rows = list(_rows(sent, received, instants, limits, aligned=aligned))
    return {
        "sent": len(sent),
        "got": len(received),
        "changed": sent != received,
        "aligned": aligned,
        "rows": rows[: limits.events],
        "rows_not_shown": max(0, len(rows) - limits.events),
    }


def _events(exchange: Recorded, delivery: Delivery | None) -> list[bytes] | None:
    if delivery is None:
        return None
    response = Response(delivery.status, delivery.reason, delivery.headers)
    cutter = split.splitter_of(response, wire.protocols().get(exchange.protocol or ""), exchange.request)
    if cutter is None:
        return None
    try:
        body, _ = decoded(delivery.body, delivery.headers)
    except WireError:
        return [delivery.body] if delivery.body else []
    return split.cut(body, cutter)


def _instants(delivery: Delivery | None, events: list[bytes]) -> list[float | None]:
    """When each event was complete, in milliseconds since the request began; None where the body was packed,
    so that its bytes are not those of the chunks."""
    if delivery is None or is_encoded(delivery.headers):
        return [None] * len(events)
    found: list[float | None] = []
    chunks, position = iter(delivery.chunks), 0
    end, at_ns = next(chunks, (0, None))
    for event in events:
        position += len(event)
        while end < position and at_ns is not None:
            end, at_ns = next(chunks, (0, None))
        found.append(None if at_ns is None else round(at_ns / NS_PER_MS, 1))
    return found


def _rows(
    sent: list[bytes],
    received: list[bytes],
    instants: list[float | None],
    limits: Limits,
    *,
    aligned: bool,
) -> Iterator[dict[str, Any]]:
    words = event_words(sent if len(sent) > len(received) else received, limits)
    for a, b in _matched(sent, received, aligned=aligned):
        yield {
            "sent_no": None if a is None else a + 1,
            "got_no": None if b is None else b + 1,
            "at_ms": None if b is None else instants[b],
            "sent": None if a is None else words(sent[a]),
            "got": None if b is None else words(received[b]),
            "same": a is not None and b is not None and sent[a] == received[b],
        }


def _matched(sent: list[bytes], received: list[bytes], *, aligned: bool) -> Iterator[Pair]:
    """Positions of events that belong together, in order; by number where they are not `aligned`."""
    if not aligned:
        yield from _side_by_side(range(len(sent)), range(len(received)))
        return
    head, tail = _common(sent, received)
    old, new = len(sent) - tail, len(received) - tail
    yield from _side_by_side(range(head), range(head))
    middle = SequenceMatcher(None, sent[head:old], received[head:new], autojunk=False)
    for _, a, b, c, d in middle.get_opcodes():
        yield from _side_by_side(range(head + a, head + b), range(head + c, head + d))
    yield from _side_by_side(range(old, len(sent)), range(new, len(received)))


def _common(sent: list[bytes], received: list[bytes]) -> tuple[int, int]:
    """How many events both begin and end with."""
    least = min(len(sent), len(received))
    head = next((at for at in range(least) if sent[at] != received[at]), least)
    tail = next((at for at in range(least - head) if sent[-1 - at] != received[-1 - at]), least - head)
    return head, tail


def _side_by_side(left: range, right: range) -> Iterator[Pair]:
    for at in range(max(len(left), len(right))):
        yield (left[at] if at < len(left) else None), (right[at] if at < len(right) else None)
