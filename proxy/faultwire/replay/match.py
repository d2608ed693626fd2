"""Which recorded exchange answers a request: the next one that asked the same.

The first that was recorded under a fingerprint answers the first that asks it, then the next; none
answers twice unless `reuse` says so. Between fingerprints order is free, because agents ask several
things at once, unless `strict_order` demands the recorded one. For the same reason several agents may ask
the same at once: of the next few that asked the same, the one whose header fields the request has answers,
so that each agent gets what it got.

A secret is compared as its placeholder. One that the tape does not know (another project's key made the
tape, or the agent now has another secret) may stand for one of the tape's, always for the same one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Literal

from faultwire.replay.mask import Masks
from faultwire.replay.request_key import RequestKey, around, asked, place_of
from faultwire.replay.shingles import sketch
from faultwire.wire.senders import sender_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded, Request
    from faultwire.replay.request_key import Place
    from faultwire.wire.senders import Mark

Why = Literal["unknown", "exhausted", "order"]
AT_ONCE = 32
"""So many equal calls may have been made at once, and arrive in another order the next time."""
Same = tuple[str, str, str, str, bytes]
"""A request as it stands: method, host with port, path with query, what else asks, and its body's digest."""


@dataclass(slots=True, eq=False)
class Entry:
    """One recorded exchange in the index; `at` is its place on the tape, counted from 0."""

    at: int
    recorded: Recorded
    place: Place
    key: str
    blind: str
    secrets: tuple[str, ...]
    sketch: frozenset[int]
    body: bytes
    """SHA-256 of the request's body."""
    sender: str | None = None
    """The agent that asked, as in `RequestKey`."""
    used: int = 0
    excused: bool = False
    """Was it asked for by a call that a fault kept from its server? Then nobody has to ask again."""


@dataclass(frozen=True, slots=True)
class Missed:
    """No recorded exchange answers. `like` is the one that would have, were it its turn."""

    asked: RequestKey
    why: Why
    like: Entry | None = None


class Index:
    """The exchanges of a tape by what they asked. Reads every request once, and no answer."""

    def __init__(
        self,
        recorded: Iterable[Recorded],
        masks: Masks | None = None,
        *,
        strict_order: bool = False,
        reuse: bool = False,
        marks: tuple[Mark, ...] = (),
    ) -> None:
        """`marks` tell agents apart: none of them gets an answer that another one got."""
        self._marks = marks
        self.masks = masks or Masks()
        self.entries: list[Entry] = []
        self.by_place: dict[Place, list[Entry]] = {}
        self.strict_order, self._reuse = strict_order, reuse
        self._queues: dict[str, deque[Entry]] = {}
        self._known: dict[str, list[Entry]] = {}
        self._secrets: set[str] = set()
        self._same: dict[Same, Entry] = {}
        self._stands_for: dict[str, str] = {}
        self._stood_for: dict[str, str] = {}
        self._next = 0
        for exchange in recorded:
            self._add(exchange)

    def _add(self, recorded: Recorded) -> None:
        found = self.ask(recorded.request)
        made = Entry(
            at=len(self.entries),
            recorded=recorded,
            place=found.place,
            key=found.key,
            blind=found.blind,
            secrets=found.secrets,
            sketch=sketch(found.request),
            body=sha256(found.request.body or b"").digest(),
            sender=found.sender,
        )
        self.entries.append(made)
        self._same.setdefault(_same(recorded.request, made.body), made)
        self.by_place.setdefault(made.place, []).append(made)
        self._queues.setdefault(made.blind, deque()).append(made)
        self._known.setdefault(made.blind, []).append(made)
        self._secrets.update(made.secrets)

    # ------------------------------------------------------------ taking

    def ask(self, request: Request) -> RequestKey:
        """What a request without secrets asks, under this index's masks."""
        found = asked(request, self.masks)
        if not self._marks:
            return found
        protocol = found.protocol.name if found.protocol is not None else None
        who = sender_of(self._marks, request, found.kind, protocol).name or ""
        return replace(found, sender=who, key=f"{who}\n{found.key}", blind=f"{who}\n{found.blind}")

    def ask_again(self, request: Request, body: bytes) -> RequestKey | None:
        """The same for one that is a recorded one byte for byte, without reading it: it has no secret that
        the tape has not. `body` is its body's SHA-256; None where there is no such."""
        # Two agents may send the same bytes; header fields tell them apart, and are not among these.
        like = self._same.get(_same(request, body)) if not self._marks else None
        return (
            None if like is None else RequestKey(request, "other", None, like.key, like.blind, like.secrets)
        )

    def take(self, wanted: RequestKey) -> Entry | Missed:
        """The exchange that answers, which is used up by this."""
        found = self._first(wanted, self._queues.get(wanted.blind, ()))
        if found is None:
            return self._again(wanted)
        if self.is_early(found):
            return Missed(wanted, "order", found)
        self.use(found)
        self._bind(wanted, found)
        return found

    def use(self, entry: Entry) -> None:
        """Count an entry as asked for that nobody has used yet."""
        entry.used += 1
        self._queues[entry.blind].remove(entry)

    def is_early(self, entry: Entry) -> bool:
        """Is it, in strict order, not this one's turn?"""
        return self.strict_order and not entry.excused and entry is not self.expected

    def give_back(self, entry: Entry) -> None:
        """A call that was to be answered by this never reached its server: the next such call gets it."""
        entry.used -= 1
        entry.excused = True
        queue = self._queues[entry.blind]
        if entry not in queue:
            queue.insert(sum(other.at < entry.at for other in queue), entry)

    def _again(self, wanted: RequestKey) -> Entry | Missed:
        known = [entry for entry in self._known.get(wanted.blind, ()) if self._agrees(wanted, entry)]
        if not known:
            return Missed(wanted, "unknown")
        if not self._reuse:
            return Missed(wanted, "exhausted", known[-1])
        known[-1].used += 1
        return known[-1]

    def _first(self, wanted: RequestKey, queue: Iterable[Entry]) -> Entry | None:
        agreeing = (entry for entry in queue if self._agrees(wanted, entry))
        if self.strict_order:
            return next(agreeing, None)
        some = list(islice(agreeing, AT_ONCE))
        if len(some) < 2:
            return some[0] if some else None
        fields = _fields(wanted.request)
        # Of several that are as much alike, max takes the first.
        return max(some, key=lambda entry: len(fields & _fields(entry.recorded.request)))

    # ------------------------------------------------------------ secrets

    def _agrees(self, wanted: RequestKey, entry: Entry) -> bool:
        """Are the secrets the same, or may they stand for each other?"""
        if wanted.key == entry.key:
            return True
        if len(wanted.secrets) != len(entry.secrets):
            return False
        forth, back = dict(self._stands_for), dict(self._stood_for)
        for ours, theirs in zip(wanted.secrets, entry.secrets, strict=True):
            if ours in self._secrets:
                if ours != theirs:
                    return False
            elif forth.setdefault(ours, theirs) != theirs or back.setdefault(theirs, ours) != ours:
                return False
        return True

    def _bind(self, wanted: RequestKey, entry: Entry) -> None:
        if wanted.key == entry.key:  # secrets that differ are masked: none of them stands for another
            return
        for ours, theirs in zip(wanted.secrets, entry.secrets, strict=True):
            if ours not in self._secrets:
                self._stands_for.setdefault(ours, theirs)
                self._stood_for.setdefault(theirs, ours)

    # ------------------------------------------------------------ what is left

    @property
    def expected(self) -> Entry | None:
        """The first exchange that nobody has asked for."""
        while self._next < len(self.entries) and _settled(self.entries[self._next]):
            self._next += 1
        return self.entries[self._next] if self._next < len(self.entries) else None

    @property
    def left(self) -> list[Entry]:
        """All that nobody has asked for, in the recorded order."""
        return [entry for entry in self.entries if not _settled(entry)]


def _same(request: Request, body: bytes) -> Same:
    return (*place_of(request)[:2], request.path, around(request), body)


def _fields(request: Request) -> frozenset[tuple[str, str]]:
    return frozenset((name.lower(), value) for name, value in request.headers)


def _settled(entry: Entry) -> bool:
    return bool(entry.used) or entry.excused
