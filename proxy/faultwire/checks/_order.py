"""Was a request sent because an earlier one had failed, or was it on its way already?

The instants at which requests came do not tell: a client that sends several at once opens a connection for
each, and behind a server that fails at once the last of them comes long after the first was answered. What
tells is how it came (`events.Arrival`). A connection that was opened before the failing answer was there was
opened for a request that waited for it, and over HTTP/1.1 nothing follows on a connection before its answer
has been read. Where neither helps, `PAUSE_MS` behind the answer it is open.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from faultwire.checks._once import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import Arrival, Recorded

SLACK_MS = 1.0
"""By how much an instant may be too early: instants on a tape are whole milliseconds."""
LAG_MS = 20.0
"""By how much the proxy may note late that its client has left."""
PAUSE_MS = 250.0
"""Less than any client waits that waits at all: the SDKs begin with 0.375 s."""
_SEARCHED = 256
_Place = tuple[str, str, int]
"""Scheme, host and port."""


class Order:
    """What followed what in one history."""

    def __init__(self, exchanges: Iterable[Recorded]) -> None:
        self._moved: defaultdict[_Place, list[tuple[float, float]]] = defaultdict(list)
        before: dict[int, Recorded] = {}
        for exchange in exchanges:
            if exchange.arrival is None:
                continue
            earlier = before.get(exchange.arrival.connection)
            if earlier is not None and exchange.started_ms < ended_ms(earlier) + PAUSE_MS:
                self._moved[_place(exchange)].append((ended_ms(earlier), exchange.started_ms))
            before[exchange.arrival.connection] = exchange
        for places in self._moved.values():
            places.sort()

    def follows(self, before: Recorded, after: Recorded) -> bool | None:
        """Did the client know of the failure of `before` when it began to send `after`? None where that
        is not to be known."""
        at, how = failed_ms(before), after.arrival
        if how is not None and _same_connection(before, after):
            # Another connection may have been on its way for it, and this one was free sooner.
            return True if not how.unused or after.started_ms >= at + PAUSE_MS else None
        noted_late = LAG_MS if before.ending == "client_aborted" else 0.0
        if after.started_ms < at - SLACK_MS:
            return None if after.started_ms >= at - SLACK_MS - noted_late else False
        if how is not None and how.request == 1:
            opened = after.started_ms - how.open_ms
            if opened < at - SLACK_MS - noted_late and how.ready_ms < PAUSE_MS:
                return None if self._took_over(after, how) else False
            if opened >= at - SLACK_MS and not how.others:
                return True  # the client had closed all others, that of the failed one among them
        return None if after.started_ms < at + PAUSE_MS else True

    def _took_over(self, after: Recorded, how: Arrival) -> bool:
        """May the connection have been opened for another request, which then went out on one that became
        free meanwhile?"""
        moved = self._moved.get(_place(after), [])
        first = bisect_left(moved, (after.started_ms - how.open_ms, 0.0))
        last = bisect_right(moved, (float(after.started_ms), float("inf")))
        if last - first > _SEARCHED:
            return True
        return any(started <= after.started_ms for _, started in moved[first:last])


@once
def order(exchanges: Sequence[Recorded]) -> Order:
    """What followed what."""
    return Order(exchanges)


def ended_ms(exchange: Recorded) -> float:
    """The instant at which an exchange was over, in milliseconds since the epoch."""
    return exchange.started_ms + exchange.duration_ms


def failed_ms(exchange: Recorded) -> float:
    """The instant at which the client could know that an exchange had failed: the first bytes of an error's
    body, or the end where there are none or the status was a good one."""
    delivered = exchange.delivered
    if delivered is None or delivered.status < 400 or not delivered.chunks:
        return ended_ms(exchange)
    return exchange.started_ms + delivered.chunks[0][1] / 1e6


def unseen(numbers: Sequence[int], *, seen: bool) -> str:
    """What is missing to know it; `seen` where it is known how those requests came."""
    which = ", ".join(f"#{number}" for number in numbers[:5]) + (", …" if len(numbers) > 5 else "")
    missing = (
        "the wire does not show whether its client had read that answer"
        if seen
        else "it was not recorded on which connections"
    )
    return f"{which} came within {PAUSE_MS:g} ms of a failed answer, and {missing}"


def _same_connection(before: Recorded, after: Recorded) -> bool:
    if before.arrival is None or after.arrival is None or before.http2 or after.http2:
        return False
    return before.arrival.connection == after.arrival.connection


def _place(exchange: Recorded) -> _Place:
    request = exchange.request
    return request.scheme, request.host, request.port
