"""Logical calls: an identical request and its repetitions after failures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.checks._once import once
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import place
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Recorded, Request

SLACK_MS = 1.0
"""By how much an instant may be too early: instants on a tape are whole milliseconds."""
_Asked = tuple[str, str, str, int, str, int, str]
"""Method, scheme, host, port, path, and the size and digest of the body."""


@dataclass(slots=True)
class Call:
    """One logical call with its attempts in order, of which there is at least one."""

    tries: list[Recorded] = field(default_factory=list)
    declared: int = 0
    """The highest attempt that the client's own counter named."""

    @property
    def url(self) -> str:
        """Host and path without the query."""
        return place(self.tries[0])

    @property
    def numbers(self) -> list[int]:
        """The numbers of its exchanges."""
        return [exchange.number for exchange in self.tries]

    @property
    def attempts(self) -> int:
        """How often it was made, attempts that only the client counted among them."""
        return max(len(self.tries), self.declared)


@once
def calls(exchanges: Sequence[Recorded]) -> tuple[Call, ...]:
    """Logical calls, each with its attempts in order."""
    found: list[Call] = []
    current: dict[_Asked, tuple[Call, float | None]] = {}
    heads = [_head(exchange.request) for exchange in exchanges]
    times = Counter(heads)
    for exchange, head in zip(exchanges, heads, strict=True):
        counted = _counted(exchange)
        if times[head] == 1:  # no other is like it: its body need not be looked at
            found.append(Call([exchange], max(0, counted + 1)))
            continue
        asked = (*head, sha256_hex(exchange.request.body or b""))
        call, failed_at = current.get(asked, (None, None))
        # one that began before the other was answered repeats nothing
        again = failed_at is not None and exchange.started_ms >= failed_at - SLACK_MS
        if call is None or not (again or counted):
            call = Call()
            found.append(call)
        call.tries.append(exchange)
        call.declared = max(call.declared, counted + 1)
        current[asked] = (call, answered_ms(exchange) if failed(exchange) else None)
    return tuple(found)


def _head(request: Request) -> tuple[str, str, str, int, str, int]:
    """All of it but the digest."""
    size = -1 if request.body is None else len(request.body)
    return request.method, request.scheme, request.host, request.port, request.path, size


def ended_ms(exchange: Recorded) -> float:
    """The instant at which an exchange was over, in milliseconds since the epoch."""
    return exchange.started_ms + exchange.duration_ms


def answered_ms(exchange: Recorded) -> float:
    """The instant at which the client got the first bytes of an answer; the exchange's first where the tape
    does not say."""
    chunks = exchange.delivered.chunks if exchange.delivered is not None else ()
    return exchange.started_ms + (chunks[0][1] / 1e6 if chunks else 0.0)


def _counted(exchange: Recorded) -> int:
    """Which retry this is, by the client's counter or the session's; 0 is the first attempt."""
    found = header(exchange.request.headers, "x-stainless-retry-count")
    if found is None:
        return max(0, exchange.attempt)
    value = found.strip()
    return max(int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 0, exchange.attempt)
