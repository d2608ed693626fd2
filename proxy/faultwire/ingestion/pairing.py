"""Which claim of a log belongs to which observation of the wire.

The order of a log is no evidence: what runs in parallel ends in any order. What has the same content belongs
together, then what belongs to the same call as such a pair, then what has the same name; the rest is taken in
its order. Times are not read, since the clock of an agent may be wrong.
"""

from __future__ import annotations

import re  # noqa: TID251 - a fixed pattern, over the name of a model
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from faultwire.ingestion.claims import KINDS, forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.ingestion.claims import Claim, Kind
    from faultwire.ingestion.observed import Seen

_PARTNER: dict[Kind, Kind] = {
    "call": "answer", "answer": "call", "tool call": "tool result", "tool result": "tool call",
}  # fmt: skip
_EDITION = re.compile(r"-(?:latest|\d{3,4}|\d{8}|\d{4}-\d{2}-\d{2})\Z")
"""What a provider adds to a model's name to say of which day it is."""


@dataclass(slots=True)
class Pairs:
    """`of` has the place of what was seen by the place of a claim; `sure` the claims whose content fits."""

    claims: Sequence[Claim]
    seen: Sequence[Seen]
    of: dict[int, int] = field(default_factory=dict)
    sure: set[int] = field(default_factory=set)
    _taken: set[int] = field(default_factory=set)
    _digests: list[dict[str, str]] = field(default_factory=list)
    _contents: list[tuple[str, ...]] = field(default_factory=list)
    _alike: dict[tuple[Kind, str | None], list[int]] = field(default_factory=lambda: defaultdict(list))

    _turns: dict[tuple[Kind, str | None], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._digests = [one.digests() for one in self.seen]
        self._contents = [_content(claim) for claim in self.claims]
        for at, claim in enumerate(self.claims):
            self._alike[claim.kind, claim.name].append(at)
            self._turns[claim.kind, claim.turn] = at
        self._by_content()
        self._by_turn()
        for kind in KINDS:
            steps = [self._by_name, self._by_content]
            for step in reversed(steps) if kind in ("call", "answer") else steps:
                step(kind)
        self._by_turn()
        for kind in KINDS:
            self._in_order(kind)

    def __iter__(self) -> Iterator[tuple[Claim | None, Seen | None]]:
        """Every claim with what was seen of it, and what was seen and is not claimed."""
        for at, claim in enumerate(self.claims):
            yield claim, self.seen[self.of[at]] if at in self.of else None
        for at, one in enumerate(self.seen):
            if at not in self._taken:
                yield None, one

    def ways(self) -> Iterator[tuple[Claim, str | None]]:
        """Of each claim that has a partner the way in which their contents fit; None where in none."""
        for at, one in self.of.items():
            digests = self._digests[one]
            yield self.claims[at], next((digests[it] for it in self._contents[at] if it in digests), None)

    def rivals(self, claim: Claim, most: int) -> list[int]:
        """The events of which any may be the one that is not on the wire, where this one is not."""
        same = self._alike[claim.kind, claim.name]
        own = next(at for at in same if self.claims[at] is claim)
        content = self._shown_by(own)
        found = (at for at in same if at == own or at not in self.sure or self._shown_by(at) == content)
        return [self.claims[at].number for at in islice(found, most)]

    def _shown_by(self, at: int) -> tuple[str, ...]:
        """The content that shows which one this is: its own, or that of the answer to it."""
        claim = self.claims[at]
        partner = self._turns.get((_PARTNER[claim.kind], claim.turn))
        return self._contents[at] or (() if partner is None else self._contents[partner])

    # ------------------------------------------------------------ steps

    def _free(self, kind: Kind | None) -> tuple[list[int], list[int]]:
        return (
            [at for at, one in enumerate(self.claims) if at not in self.of and kind in (None, one.kind)],
            [at for at, one in enumerate(self.seen) if at not in self._taken and kind in (None, one.kind)],
        )

    def _take(self, claim: int, one: int, *, sure: bool = False) -> None:
        self.of[claim] = one
        self._taken.add(one)
        if sure:
            self.sure.add(claim)

    def _by_content(self, kind: Kind | None = None) -> None:
        """With a kind given, whatever the names are."""
        claims, seen = self._free(kind)
        places: dict[tuple[Kind, str], deque[int]] = defaultdict(deque)
        for at in seen:
            for digest in self._digests[at]:
                places[self.seen[at].kind, digest].append(at)
        for at in claims:
            claim = self.claims[at]
            found = (places[claim.kind, one] for one in self._contents[at] if (claim.kind, one) in places)
            name = None if kind is not None else claim.name
            fit = next((one for place in found if (one := self._first(place, name)) is not None), None)
            if fit is not None:
                self._take(at, fit, sure=True)

    def _first(self, place: deque[int], name: str | None) -> int | None:
        while place and place[0] in self._taken:
            place.popleft()
        fit = (one for one in place if one not in self._taken and same_name(name, self.seen[one].name))
        return next(fit, None)

    def _by_turn(self) -> None:
        there = {(one.kind, one.turn): at for at, one in enumerate(self.seen) if one.turn is not None}
        for at, one in list(self.of.items()):
            kind, turn, seen_turn = _PARTNER[self.claims[at].kind], self.claims[at].turn, self.seen[one].turn
            claim = None if turn is None else self._turns.get((kind, turn))
            other = None if seen_turn is None else there.get((kind, seen_turn))
            if claim is None or other is None or claim in self.of or other in self._taken:
                continue
            self._take(claim, other, sure=at in self.sure)

    def _by_name(self, kind: Kind) -> None:
        claims, seen = self._free(kind)
        places: dict[str, deque[int]] = defaultdict(deque)
        for at in seen:
            places[_bare(self.seen[at].name or "")].append(at)
        for at in claims:
            name = self.claims[at].name
            fit = self._first(places[_bare(name)], name) if name else None
            if fit is not None:
                self._take(at, fit)

    def _in_order(self, kind: Kind) -> None:
        claims, seen = self._free(kind)
        expected = (at for at in seen if not self.seen[at].no_event)
        for claim, one in zip(claims, expected, strict=False):
            self._take(claim, one)


def same_name(one: str | None, other: str | None) -> bool:
    """Do two names of a model, or of a tool, mean the same? A log may leave out the edition of a model."""
    if one is None or other is None or one == other:
        return True
    found = [name.rpartition("/")[2] for name in (one, other)]
    bare = [_bare(name) for name in found]
    latest = any(name.endswith("-latest") for name in found)
    return found[0] == found[1] or (bare[0] == bare[1] and (bare[0] in found or latest))


def _bare(name: str) -> str:
    return _EDITION.sub("", name.rpartition("/")[2])


def _content(claim: Claim) -> tuple[str, ...]:
    if claim.value is not None:
        return tuple(forms(claim.value).values())
    return () if claim.digest is None else (claim.digest,)
