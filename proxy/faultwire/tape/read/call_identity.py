"""What each recorded exchange was, and which of several equal calls: found out when somebody asks.

While an exchange on which no fault can act is under way nobody reads it, and none of the proxy's time goes
into what only a later reader wants to know. The functions that find it out from the stored request are
those that a passage uses. A key is made of the request as it is stored: where secrets were redacted it
is another than the one that the dice knew, and equal for equal requests all the same.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from faultwire import wire
from faultwire.events import Exchange, Kind, Recorded
from faultwire.exchange.session_state import SessionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Delivery, Request
    from faultwire.tape.format.events import Event


class Known(NamedTuple):
    """What is known of a recorded request without its fingerprint; as in `Recorded`."""

    kind: Kind
    protocol: str | None
    provider: str | None
    tool: str | None
    attempt: int


def known(event: Event, request: Request) -> Known:
    """What a request event tells, or, where nobody looked into the request, what the request does.

    The body is asked for only where the head left open what it is.
    """
    kind, protocol, provider, tool = event["kind"], event["protocol"], event["provider"], event["tool"]
    if event["key"]:
        return Known(kind, protocol, provider, tool, event["attempt"])
    if kind == "other":
        found = wire.classify(request)
        kind, provider, tool = found.kind, found.provider, found.tool
        protocol = found.protocol.name if found.protocol else None
    return Known(
        kind, protocol, provider, tool, wire.attempt(request, wire.protocols().get(protocol or "")) or 0
    )


class CallNumbers(Protocol):
    """Who knows what exchanges were, by the place that `take` gave each."""

    def take(self, event: Event, request: Request, answer: Delivery | None) -> int:
        """One more exchange, with the server's response."""

    def known(self, place: int) -> Known:
        """What it was taken for, by its request."""

    def revoked(self, place: int) -> str | None:
        """Why it was not that, or None."""

    def at(self, place: int) -> tuple[str, int]:
        """Its key, and how many calls with that key came before."""


class CallNumbering:
    """Counts the calls of one session whose keys are equal, in the order in which they were made."""

    def __init__(self) -> None:
        self._state = SessionState()
        self._seen: dict[int, tuple[Event, Request]] = {}
        self._answers: dict[int, Delivery | None] = {}
        self._known: dict[int, Known] = {}
        self._revoked: dict[int, str | None] = {}
        self._found: dict[int, tuple[str, int]] = {}
        self._taken = self._numbered = self._forgotten = 0

    def take(self, event: Event, request: Request, answer: Delivery | None = None) -> int:
        """The next exchange; its place."""
        place, self._taken = self._taken, self._taken + 1
        self._seen[place], self._answers[place] = (event, request), answer
        return place

    def known(self, place: int) -> Known:
        """What it was taken for."""
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = known(*self._seen[place])
        return found

    def revoked(self, place: int) -> str | None:
        """Why it was not that, or None."""
        if place not in self._revoked:
            taken, (_, request) = self.known(place), self._seen[place]
            protocol = wire.protocols().get(taken.protocol or "")
            event = self._answers[place]
            why = None if protocol is None else wire.revoked(protocol, taken.kind, request, event)
            self._revoked[place] = why
        return self._revoked[place]

    def at(self, place: int) -> tuple[str, int]:
        """Key and number; the requests before it are read as well."""
        while self._numbered <= place:
            at = self._numbered
            event, request = self._seen[at]
            what = self.known(at)
            key = wire.fingerprint(request, what.kind, wire.protocols().get(what.protocol or ""))
            n = event["n"]
            if not event["key"]:  # nobody counted it
                exchange = Exchange(event["session"], event["exchange"], request, key=key)
                n = self._state.identify(exchange, declared=what.attempt or None).n
            self._found[at] = (key, n)
            self._numbered += 1
        return self._found[place]

    def forget(self, place: int) -> None:
        """Let go of that exchange and of those before it: nobody asks for them any more. One that could not
        be numbered is passed over."""
        for at in range(self._forgotten, place + 1):
            for kept in (self._seen, self._answers, self._known, self._revoked, self._found):
                kept.pop(at, None)
        self._forgotten = max(self._forgotten, place + 1)
        self._numbered = max(self._numbered, self._forgotten)


class _OneCall:
    """Knows one exchange that was read without the others."""

    def __init__(self) -> None:
        self._alone = CallNumbering()

    def take(self, event: Event, request: Request, answer: Delivery | None = None) -> int:
        """That exchange."""
        return self._alone.take(event, request, answer)

    def known(self, place: int) -> Known:
        """What it was taken for."""
        return self._alone.known(place)

    def revoked(self, place: int) -> str | None:
        """Why it was not that, or None."""
        return self._alone.revoked(place)


class NumberedCall(_OneCall):
    """One whose number was found out before."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self._n = n

    def at(self, place: int) -> tuple[str, int]:
        """Its key, and the number."""
        return self._alone.at(place)[0], self._n


class LookedUpCall(_OneCall):
    """One for which the others are read once its number is wanted."""

    def __init__(self, find: Callable[[], Recorded | None]) -> None:
        super().__init__()
        self._find = find

    def at(self, place: int) -> tuple[str, int]:
        """Key and number, from its whole session."""
        found = self._find()
        return self._alone.at(place) if found is None else (found.key, found.n)


def revoked(recorded: Recorded) -> str | None:
    """Why a recorded exchange is not what its request seemed to be, or None."""
    return recorded.revoked if isinstance(recorded, StoredRecorded) else None


def settled(recorded: Recorded) -> Recorded:
    """The same with all found out that is found out when asked. What numbered it lets go of it, and of the
    exchanges of its session that were taken before it. Raises TapeError where its request cannot be read."""
    if not isinstance(recorded, StoredRecorded):
        return recorded
    try:
        return Recorded(**{field.name: getattr(recorded, field.name) for field in fields(Recorded)})
    finally:
        recorded.let_go()


class StoredRecorded(Recorded):
    """A recorded exchange that finds out what it was, which key it has and its number when asked."""

    __slots__ = ("_numbers", "_place")
    _numbers: CallNumbers
    _place: int

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Made like a `Recorded` (as `dataclasses.replace` does), it is one."""
        return Recorded(*values, **named)

    @classmethod
    def of(cls, recorded: Recorded, numbers: CallNumbers, place: int) -> Recorded:
        """`recorded` with all that `numbers` says of it."""
        made = object.__new__(cls)
        for field in fields(recorded):
            if not isinstance(getattr(cls, field.name), property):
                object.__setattr__(made, field.name, getattr(recorded, field.name))
        object.__setattr__(made, "_numbers", numbers)
        object.__setattr__(made, "_place", place)
        return made

    @property
    def revoked(self) -> str | None:
        """Why it is not what its request seemed to be, now that its answer is known; None where it is."""
        return self._numbers.revoked(self._place)

    @property
    def kind(self) -> Kind:
        """What it is about."""
        return "other" if self.revoked else self._numbers.known(self._place).kind

    @property
    def protocol(self) -> str | None:
        """The protocol's word."""
        return None if self.revoked else self._numbers.known(self._place).protocol

    @property
    def provider(self) -> str | None:
        """The provider's word."""
        return None if self.revoked else self._numbers.known(self._place).provider

    @property
    def tool(self) -> str | None:
        """The tool's name."""
        return self._numbers.known(self._place).tool

    @property
    def attempt(self) -> int:
        """The retries of its logical call that came before."""
        return self._numbers.known(self._place).attempt

    @property
    def key(self) -> str:
        """The fingerprint of the stored request."""
        return self._numbers.at(self._place)[0]

    @property
    def n(self) -> int:
        """How many calls with this key came before in the session."""
        return self._numbers.at(self._place)[1]

    def let_go(self) -> None:
        """See `settled`."""
        if isinstance(self._numbers, CallNumbering):
            self._numbers.forget(self._place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recorded):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(Recorded))

    __hash__ = Recorded.__hash__
