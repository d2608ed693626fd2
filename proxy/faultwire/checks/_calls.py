"""Logical calls: an identical request and its repetitions after failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.checks._once import once
from faultwire.checks._told import place
from faultwire.checks._traffic import failed
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded

_Asked = tuple[str, str, str | None]
"""Method, URL, and the digest of the body: bodies themselves stay on the tape."""


@dataclass(slots=True)
class Call:
    """One logical call with its attempts in order."""

    url: str
    tries: list[Recorded] = field(default_factory=list)
    told: int = 0
    """The highest attempt that the client's own counter named."""

    @property
    def numbers(self) -> list[int]:
        """The numbers of its exchanges."""
        return [exchange.number for exchange in self.tries]

    @property
    def attempts(self) -> int:
        """How often it was made, attempts that only the client counted among them."""
        return max(len(self.tries), self.told)


@once
def calls(exchanges: Iterable[Recorded]) -> tuple[Call, ...]:
    """Logical calls, each with its attempts in order."""
    found: list[Call] = []
    current: dict[_Asked, tuple[Call, bool]] = {}
    for exchange in exchanges:
        request = exchange.request
        body = request.body
        asked = (request.method, request.url, None if body is None else sha256_hex(body))
        counted = _counted(exchange)
        call, was_failed = current.get(asked, (None, False))
        if call is None or not (was_failed or counted):
            call = Call(place(exchange))
            found.append(call)
        call.tries.append(exchange)
        call.told = max(call.told, counted + 1)
        current[asked] = (call, failed(exchange))
    return tuple(found)


def ended_ms(exchange: Recorded) -> float:
    """The instant at which an exchange was over, in milliseconds since the epoch."""
    return exchange.started_ms + exchange.duration_ms


def _counted(exchange: Recorded) -> int:
    """Which retry this is, by the client's counter or the session's; 0 is the first attempt."""
    told = (header(exchange.request.headers, "x-stainless-retry-count") or "").strip()
    return max(int(told) if told.isascii() and told.isdigit() and len(told) < 6 else 0, exchange.attempt)
