"""Which case is changed next, where, and how.

Pure. Cases that showed something new are kept, and are chosen the more often the more they showed and the
less often they were chosen (power schedules: Böhme and others, Coverage-based Greybox Fuzzing, 2016). Changes
are chosen by what they brought so far. Without guidance only the texts that cases begin with are changed,
by one to three changes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.dice import unit
from faultwire.fuzz.case import Case
from faultwire.fuzz.grammar import child

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.fuzz.grammar import Source

TRIES = 300
"""Throws in a row that bring no new case before nothing counts as left."""
MOST_PARTS = 3
MOST_STEPS = 6
STACKED = 3


@dataclass
class Kept:
    """A case that showed something new: how much, how often it was chosen, and what that brought."""

    case: Case
    news: int
    chosen: int = 0
    gains: int = 0

    @property
    def weight(self) -> float:
        """How much it promises."""
        return (1 + min(self.news, 8)) * (1 + 2 * self.gains) / (1 + self.chosen)


@dataclass
class Corpus:
    """The cases that were kept; the first is the run as it is."""

    sources: Sequence[Source]
    seed: int
    guided: bool = True
    kept: list[Kept] = field(default_factory=lambda: [Kept(Case(), 1)])
    _known: set[str] = field(default_factory=lambda: {Case().id})
    _changes: dict[str, list[int]] = field(default_factory=dict)
    _throws: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _bases: list[Case] | None = None

    def next(self, number: int) -> tuple[Case, Kept] | None:
        """A case that was not made before, with the one that it was made of; None where none is left."""
        first = self._as_it_is()
        if first is not None:
            return first, self.kept[0]
        for vain in range(TRIES):
            parent = self._parent(number, vain) if self.guided else self.kept[0]
            count = 1 + int(self._roll(f"count {number}", vain) * STACKED)
            if self.guided:
                count = 2 if self._roll(f"stack {number}", vain) < 0.15 else 1
            case: Case | None = parent.case
            for depth in range(count):
                case = case and self._changed(case, number, f"{vain} {depth}")
            if case is not None and case.id not in self._known:
                self._known.add(case.id)
                parent.chosen += 1
                return case, parent
        return None

    def learn(self, case: Case, parent: Kept, news: int) -> None:
        """Take in what a case showed: so many features that were new."""
        for change in {step.change for part in case.parts for step in part.steps[-1:]}:
            counts = self._changes.setdefault(change, [0, 0])
            counts[0] += bool(news)
            counts[1] += 1
        if news:
            parent.gains += 1
            if sum(len(part.steps) for part in case.parts) <= MOST_STEPS:
                self.kept.append(Kept(case, news))

    def extend(self, sources: Iterable[Source]) -> None:
        """Take in calls that were not seen before; without guidance nothing is learned."""
        if self.guided:
            known = {one.target: one for one in (*sources, *self.sources)}
            own = {one.target for one in self.sources}
            self.sources = (*self.sources, *(one for target, one in known.items() if target not in own))

    def _as_it_is(self) -> Case | None:
        """The texts that cases begin with, but for what the agent has seen already, each once."""
        if self._bases is None:
            self._bases = [
                Case((source.first(name),))
                for source in self.sources
                for name in source.bases
                if name not in ("seen", "given")
            ]
        while self._bases:
            case = self._bases.pop(0)
            if case.id not in self._known:
                self._known.add(case.id)
                return case
        return None

    def _parent(self, number: int, vain: int) -> Kept:
        left = self._roll(f"parent {number}", vain) * sum(one.weight for one in self.kept)
        for one in self.kept:
            left -= one.weight
            if left < 0:
                return one
        return self.kept[-1]

    def _changed(self, case: Case, number: int, vain: str) -> Case | None:
        source = self._source(case, number, vain)
        names = sorted(source.bases)
        base = names[int(self._roll(f"base {number} {vain}", 0) * len(names))]
        change = max(source.changes, key=lambda name: (self._drawn(name, number, vain), name))
        key = (case.id, source.target.text, f"{base} {change}")
        throw = self._throws.get(key, 0)
        self._throws[key] = throw + 1
        return child(case, source, base, change, throw, self.seed)

    def _source(self, case: Case, number: int, vain: str) -> Source:
        """Where: as often as not where the case has a part, else anywhere that it may have one."""
        own = [one for one in self.sources if case.part(one.target)]
        free = [one for one in self.sources if not case.part(one.target)] if len(own) < MOST_PARTS else []
        same = own and (not free or self._roll(f"same {number} {vain}", 0) < 0.5)
        options = own if same else free
        return options[int(self._roll(f"target {number} {vain}", 0) * len(options))]

    def _drawn(self, change: str, number: int, vain: str) -> float:
        """The more a change brought, the higher; by the dice, so that none is given up."""
        good, total = self._changes.get(change, (0, 0)) if self.guided else (0, 0)
        rate = (good + 1) / (total + 2)
        return float(self._roll(f"change {change} {number} {vain}", 0) ** (1 / (0.5 + rate)))

    def _roll(self, purpose: str, n: int) -> float:
        return unit(self.seed, "fuzz", "corpus", purpose, n, "search")
