"""What a session must remember between exchanges so that the same traffic meets the same faults.

Written only through the methods here, by the one engine that the session lives on. All memory is
bounded: a session of a million exchanges holds no more than its last `KEPT` calls.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Exchange
    from faultwire.wire._api import Rewrite

KEPT = 4096
"""Distinct calls, decisions and tool-call ids that are remembered, each."""

OPEN = 64
"""Identical calls whose retries are told apart."""

UNTOLD = 3
"""Retries that are taken for an SDK's where it does not count them itself; no SDK makes more. What
comes after them is the agent's own new call."""

K = TypeVar("K")
V = TypeVar("V")
Verb = Literal["fire", "skip", "inapplicable"]
Judgement = tuple[Verb, str, float | None]
"""Verb, reason, and the roll where one was made."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: an exchange, or one tool result inside it (`name` is its tool)."""

    key: str
    n: int
    attempt: int
    name: str | None = None


@dataclass(slots=True)
class _Call:
    """All calls with one key: `n` is the latest; `attempts` counts the retries of the open ones."""

    n: int = -1
    attempts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    broken: set[int] = field(default_factory=set)

    def begin(self) -> int:
        self.n += 1
        self.attempts[self.n] = 0
        while len(self.attempts) > OPEN:
            old, _ = self.attempts.popitem(last=False)
            self.broken.discard(old)
        return self.n

    def retried(self, told: str | None) -> int | None:
        """The call that a request repeats, None where it is a new one.

        Of several identical calls at once, the one that a fault broke and that was tried as often as
        the SDK says: which of them arrives first then changes nothing.
        """
        if told is None:
            return min((n for n in self.broken if self.attempts[n] < UNTOLD), default=None)
        count = told.strip()
        if count in ("", "0"):
            return None
        like = [n for n, tried in self.attempts.items() if str(tried + 1) == count]
        broken = [n for n in like if n in self.broken]
        return min(broken) if broken else max(like or self.attempts, default=None)


@dataclass(slots=True)
class SessionState:
    """Counts, attempts and remembered rewrites of one session."""

    rewrites: OrderedDict[str, Rewrite | None] = field(default_factory=OrderedDict)
    """Tool-call id to what its result was replaced with; None where it was let through."""
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    _calls: OrderedDict[str, _Call] = field(default_factory=OrderedDict)
    _decided: OrderedDict[tuple[str, str, int], Judgement] = field(default_factory=OrderedDict)
    _number: int = 0

    def number(self) -> int:
        """The ordinal of the next exchange, from 1."""
        self._number += 1
        return self._number

    def identify(self, exchange: Exchange) -> Exchange:
        """Number a logical call and its attempts.

        A retry is told by the SDK's own counter (`x-stainless-retry-count`), or, from SDKs that
        send none, by the same request again right after a fault broke it.
        """
        call = self._call(exchange.key)
        told = header(exchange.request.headers, "x-stainless-retry-count")
        n = call.retried(told)
        if n is None:
            n = call.begin()
        else:
            call.attempts[n] += 1
            call.broken.discard(n)
        return replace(exchange, n=n, attempt=call.attempts[n])

    def occurrence(self, key: str) -> int:
        """How often a tool result's key came before in the session."""
        call = self._call(key)
        call.n += 1
        return call.n

    def broke(self, key: str, n: int) -> None:
        """A fault ended this attempt: an identical request that follows is its retry."""
        call = self._call(key)
        if n in call.attempts:
            call.broken.add(n)

    def counts(self, entry: str) -> tuple[int, int]:
        """Logical calls that an entry has seen, and those it fired on."""
        return self._counts.get(entry, (0, 0))

    def decided(self, entry: str, subject: Subject) -> Judgement | None:
        """The judgement on an earlier attempt of the same logical call."""
        return self._decided.get((entry, subject.key, subject.n)) if subject.attempt else None

    def note(self, entry: str, subject: Subject, judgement: Judgement) -> None:
        """Count a decision; the attempts of one logical call count once."""
        if self.decided(entry, subject) is None:
            seen, fired = self.counts(entry)
            self._counts[entry] = (seen + 1, fired + (judgement[0] == "fire"))
            _bounded(self._decided, (entry, subject.key, subject.n), judgement)

    def remember(self, call_id: str, rewrite: Rewrite | None) -> None:
        """Keep what was done to a tool's result, to do the same in every later request."""
        _bounded(self.rewrites, call_id, rewrite)

    def _call(self, key: str) -> _Call:
        found = self._calls.get(key)
        if found is None:
            found = _Call()
        _bounded(self._calls, key, found)
        return found


def _bounded(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
