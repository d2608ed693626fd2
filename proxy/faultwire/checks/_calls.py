"""Logical calls: an identical request and its repetitions after failures."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire._core import json_fingerprint, sha256_hex
from faultwire.checks._once import once
from faultwire.checks._order import Order, order, unseen
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import place
from faultwire.wire.recognition.size_limit import is_heavy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Recorded, Request

OPEN = 256
"""Failed calls with one request that are remembered: so many may be under way at once."""
_Asked = tuple[str, str, str, int, str, str, int, str]
"""Method, scheme, host, port, path, operation, and the size and digest of the body."""
OPERATIONS = ("x-amz-target", "soapaction")
"""Headers that say what is asked of servers with one path for everything."""
HINT = "prompt_cache_key"
"""Where a provider may look for what it has read before. No answer depends on it, and openai-agents makes one
anew for each run: a loop around its runs asks the same again with another one of the same length."""


@dataclass(slots=True, eq=False)
class Call:
    """One logical call with its attempts in order, of which there is at least one."""

    tries: list[Recorded] = field(default_factory=list)
    declared: int = 0
    """The highest attempt that the client's own counter named."""
    continues: bool = False
    """Is its first attempt here one of an earlier request, which differs in what its client makes anew?"""

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

    def add(self, exchange: Recorded, declared: int) -> None:
        """One more attempt; `declared` came before it."""
        self.tries.append(exchange)
        self.declared = max(self.declared, declared + 1 if declared else 0)


def calls(exchanges: Sequence[Recorded]) -> tuple[Call, ...]:
    """Logical calls, each with its attempts in order, of which each is known to be one."""
    return _readings(exchanges)[0]


def possible_calls(exchanges: Sequence[Recorded]) -> tuple[Call, ...]:
    """The same where each request that may be an attempt is taken for one."""
    return _readings(exchanges)[1]


@once
def _readings(exchanges: Sequence[Recorded]) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    known = _Grouping(order(exchanges), enough=(True,))
    found = known.grouped(exchanges)
    if not known.doubted:
        return found, found
    return found, _Grouping(order(exchanges), enough=(True, None)).grouped(exchanges)


def doubt(exchanges: Sequence[Recorded]) -> str | None:
    """Why it is not known of some requests whether they repeat one that failed; None where it is of all."""
    known = _repetitions(calls(exchanges))
    may_be = [after for pair, after in _repetitions(possible_calls(exchanges)).items() if pair not in known]
    if not may_be:
        return None
    numbers = sorted(exchange.number for exchange in may_be)
    return unseen(numbers, seen=all(exchange.arrival is not None for exchange in may_be))


def _repetitions(found: tuple[Call, ...]) -> dict[tuple[int, int], Recorded]:
    """Each attempt but the first of a call, by its number and that of the one before."""
    pairs = [pair for call in found for pair in pairwise(call.tries)]
    return {(before.number, after.number): after for before, after in pairs}


class _Grouping:
    """The calls that exchanges make: one is an attempt where `Order.follows` is one of `enough`."""

    def __init__(self, order: Order, *, enough: tuple[bool | None, ...]) -> None:
        self.doubted = False
        """Was there one of which it is not known?"""
        self._order, self._enough = order, enough
        self._found: list[Call] = []
        self._last: dict[_Asked, Call] = {}
        self._failed: dict[_Asked, deque[Call]] = {}

    def grouped(self, exchanges: Sequence[Recorded]) -> tuple[Call, ...]:
        """Take exchanges in their order."""
        heads = [_head(exchange.request) for exchange in exchanges]
        times = Counter(heads)
        for exchange, head in zip(exchanges, heads, strict=True):
            if times[head] == 1:  # no other is like it: its body need not be looked at
                self._begin(exchange, _declared(exchange))
            else:
                self._take(exchange, (*head, _digest(exchange.request)))
        return tuple(self._found)

    def _take(self, exchange: Recorded, asked: _Asked) -> None:
        declared = _declared(exchange)
        open_calls = self._failed.setdefault(asked, deque(maxlen=OPEN))
        call = self._repeated(exchange, open_calls, declared or 0)
        if call is None and declared:
            call = self._last.get(asked)
        if call is None:
            call = self._begin(exchange, declared, known=asked in self._last)
        else:
            call.add(exchange, declared or 0)
            if call in open_calls:
                open_calls.remove(call)
        self._last[asked] = call
        if failed(exchange):
            open_calls.append(call)

    def _repeated(self, exchange: Recorded, open_calls: deque[Call], declared: int) -> Call | None:
        """The call of which this is an attempt: of several that failed the one with as many attempts as the
        client says, else the latest."""
        latest: Call | None = None
        for call in reversed(open_calls):
            follows = self._order.follows(call.tries[-1], exchange)
            self.doubted = self.doubted or follows is None
            if follows not in self._enough:
                continue
            if not declared or call.attempts == declared:
                return call
            latest = latest or call
        return latest

    def _begin(self, exchange: Recorded, declared: int | None, *, known: bool = False) -> Call:
        """A new call; where its request is `known` already, the client alone says which attempt this is."""
        counted = exchange.attempt if declared is None and not known else declared or 0
        call = Call(continues=exchange.attempt > 0 and not known)
        call.add(exchange, counted)
        self._found.append(call)
        return call


def _head(request: Request) -> tuple[str, str, str, int, str, str, int]:
    """All of it but the digest."""
    size = -1 if request.body is None else len(request.body)
    operation = next((value for name, value in request.headers if name.lower() in OPERATIONS), "")
    return request.method, request.scheme, request.host, request.port, request.path, operation, size


def _digest(request: Request) -> str:
    """What a body asks. Bodies are compared whole but for the hint; one that is too heavy to be read, as it
    is."""
    body = request.body or b""
    if HINT.encode() not in body or is_heavy(body):
        return sha256_hex(body)
    return json_fingerprint(body, [f"$.{HINT}"]).hex()


def _declared(exchange: Recorded) -> int | None:
    """Which retry this is by the client's counter, 0 for the first attempt; None where it counts none."""
    return wire.attempt(exchange.request, wire.protocols().get(exchange.protocol or ""))
