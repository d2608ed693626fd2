"""Where every exchange of a tape is, and what of it cannot be read from its own events again: some 50 bytes
each. All else is on the tape.

Every change of an exchange has a number (its revision), so that whoever has seen the changes up to one asks
for what came after it.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import Any, NamedTuple

from faultwire.exchange.session_state import KEPT
from faultwire.tape.read.span import Span

_READ, _ELSEWHERE = 1, 2


class Change(NamedTuple):
    """The revision that was reached, and each place that changed, once, in the order of the changes."""

    reached: int
    places: list[int]


class Places:
    """Written by one thread. Whoever reads holds the lock of the index, or asks for places that are there."""

    def __init__(self) -> None:
        self.sessions: list[str] = []
        self._ids: dict[str, int] = {}
        self._session, self._n, self._head, self._log = array("I"), array("I"), array("I"), array("I")
        self._number, self._first, self._last = array("Q"), array("Q"), array("Q")
        self._flags = bytearray()
        self._open: dict[tuple[str, int], int] = {}
        self._calls: OrderedDict[tuple[int, str, int], int] = OrderedDict()
        """The first attempt of the calls of late."""

    def __len__(self) -> int:
        return len(self._session)

    @property
    def revision(self) -> int:
        """The number of the last change."""
        return len(self._log)

    @property
    def size(self) -> int:
        """Bytes that are kept of all exchanges together."""
        arrays = (self._session, self._n, self._head, self._log, self._number, self._first, self._last)
        return len(self._flags) + sum(one.itemsize * len(one) for one in arrays)

    def put(self, span: Span, *, over: bool) -> int:
        """Take an exchange that has changed; its place. After its end (`over`) it changes no more."""
        known = (span.session, span.number)
        at = self._open.pop(known, None)
        if at is None:
            at = self._added(span)
        self._last[at] = span.last
        if not over:
            self._open[known] = at
        self._log.append(at)
        return at

    def _added(self, span: Span) -> int:
        at = len(self._session)
        if span.session not in self._ids:
            self._ids[span.session] = len(self.sessions)
            self.sessions.append(span.session)
        for kept, value in (
            (self._session, self._ids[span.session]),
            (self._n, 0),
            (self._head, at),
            (self._number, span.number),
            (self._first, span.first),
            (self._last, span.last),
        ):
            kept.append(value)
        self._flags.append(0)
        return at

    def read(self, at: int, key: str, n: int, *, elsewhere: bool = False) -> None:
        """The bodies of an exchange were read: it is the `n`-th call with that key in its session, and its
        tokens are counted `elsewhere` or not. No key: it could not be told."""
        self._flags[at] = _READ | (_ELSEWHERE if elsewhere else 0)
        self._n[at] = n
        if key:
            self._group(at, (self._session[at], key, n))
        self._log.append(at)

    def _group(self, at: int, call: tuple[int, str, int]) -> None:
        first = self._calls.get(call, at)
        if at < first:  # the attempts ended in another order than they began
            self._head[first] = at
            self._log.append(first)
        self._head[at] = head = min(at, first)
        self._calls[call] = head
        self._calls.move_to_end(call)
        while len(self._calls) > KEPT:
            self._calls.popitem(last=False)

    def is_read(self, at: int) -> bool:
        """Were its bodies read?"""
        return bool(self._flags[at] & _READ)

    def is_counted_elsewhere(self, at: int) -> bool:
        """Are its tokens counted with another exchange, which got the same answer?"""
        return bool(self._flags[at] & _ELSEWHERE)

    def span(self, at: int) -> Span:
        """Where it is on the tape. Raises IndexError."""
        n = self._n[at] if self.is_read(at) else None
        session = self.sessions[self._session[at]]
        return Span(session, self._number[at], self._first[at], self._last[at], n)

    def head(self, at: int) -> int:
        """The place of the first attempt of its call: its own where it is that, or nobody knows another."""
        while self._head[at] != at:
            at = self._head[at]
        return at

    def retries(self, places: list[int] | None = None) -> list[tuple[int, int]]:
        """Of these places, or of all, those of retries, each with that of its call's first attempt."""
        asked: Any = range(len(self)) if places is None else places
        return [(at, self.head(at)) for at in asked if self._head[at] != at]

    def since(self, revision: int, most: int) -> Change:
        """What changed after a revision, by so many changes at most."""
        reached = min(len(self._log), max(0, revision) + most)
        return Change(reached, list(dict.fromkeys(self._log[max(0, revision) : reached])))

    def of_session(self, session: str, until: int | None = None) -> list[int]:
        """The places of a session, of all or of those up to one, by the numbers of its exchanges."""
        ident = self._ids.get(session)
        found = [at for at in range(len(self) if until is None else until) if self._session[at] == ident]
        return sorted(found, key=self._number.__getitem__)

    def find(self, session: str, number: int) -> int | None:
        """The place of an exchange of a session."""
        return next((at for at in self.of_session(session) if self._number[at] == number), None)
