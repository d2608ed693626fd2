"""Which case is changed next, where, and how.

Pure. Cases that showed something new are kept, and are chosen the more often the more they showed and the
less often they were chosen (power schedules: Böhme and others, Coverage-based Greybox Fuzzing, 2016). Changes
are chosen by what they brought so far. A change comes to every place of a case before it comes to one again,
and is chosen less often from then on; a target is chosen by what is untried there. What would only undo the
change that made a case worth keeping, or crash as one change alone crashed, is mostly left out. Without
guidance only the texts that cases begin with are changed, by one to three changes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.dice import unit
from faultwire.fuzz.case import Case
from faultwire.fuzz.grammar import child

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from faultwire.fuzz.case import Target
    from faultwire.fuzz.grammar import Source

TRIES = 300
"""Throws in a row that bring no new case before nothing counts as left."""
FIRST = 1_000_000
"""Throws from here on are of changes that are not the last ones of their case."""
MOST_PARTS = 3
MOST_STEPS = 6
STACKED = 3
WHOLE = "the text"
IDLE = 0.9
"""The share of changes that only undo, or crash as known, that is left out."""
MOST_OPEN = 12
"""Untried places of a change that count when a target is chosen: large results do not hide small ones."""


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
    _room: dict[tuple[str, str, str], Mapping[str, int]] = field(default_factory=dict)
    _crashed: set[tuple[str, str]] = field(default_factory=set)
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
                case = case and self._changed(case, number, f"{vain} {depth}", last=depth + 1 == count)
            if case is not None and case.id not in self._known and not self._idle(parent, case, number, vain):
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

    def crash(self, case: Case) -> None:
        """Take in that a case crashed."""
        steps = [(part.target.text, step.how) for part in case.parts for step in part.steps]
        if len(steps) == 1:
            self._crashed.add(steps[0])

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

    def _changed(self, case: Case, number: int, vain: str, *, last: bool) -> Case | None:
        """The case with one more change; only the last one of a case takes its turn at a place."""
        source = self._source(case, number, vain)
        names = sorted(source.bases)
        base = names[int(self._roll(f"base {number} {vain}", 0) * len(names))]
        left = self._open(case, source, base) if self.guided else {}
        change = max(
            source.changes, key=lambda name: (self._drawn(name, left.get(name, 1), number, vain), name)
        )
        key = (case.id, source.target.text, f"{base} {change}{'' if last else ' first'}")
        throw = self._throws.get(key, 0)
        self._throws[key] = throw + 1
        return child(case, source, base, change, throw if last else FIRST + throw, self.seed)

    def _open(self, case: Case, source: Source, base: str) -> dict[str, int]:
        """How many places of its text each change has not been at; below 0 where it came again."""
        part = case.part(source.target) or source.first(base)
        place = (case.id, source.target.text, base)
        if place not in self._room:
            self._room[place] = source.room(part.text)
        room = self._room[place]
        return {
            change: room.get(change, 1) - self._throws.get((*place[:2], f"{base} {change}"), 0)
            for change in source.changes
        }

    def _source(self, case: Case, number: int, vain: str) -> Source:
        """Where: the more is untried there, the more often; as many parts as a case may have."""
        own = [one for one in self.sources if case.part(one.target)]
        options = list(self.sources) if len(own) < MOST_PARTS else own
        if not self.guided:
            return options[int(self._roll(f"target {number} {vain}", 0) * len(options))]

        def drawn(source: Source) -> float:
            left = self._open(case, source, min(source.bases)).values()
            untried = sum(min(max(0, one), MOST_OPEN) for one in left) + 1
            return float(self._roll(f"target {source.target.text} {number} {vain}", 0) ** (1 / untried))

        return max(options, key=lambda source: (drawn(source), source.target))

    def _idle(self, parent: Kept, case: Case, number: int, vain: int) -> bool:
        """Does a case of a kept one undo what made that worth keeping, or crash as one change alone did? Most
        of these are left out, and none for ever."""
        before = {_place(step.how) for part in parent.case.parts for step in part.steps}
        if not self.guided or not before:
            return False
        undone = before | {WHOLE}
        added = [
            (part.target.text, step.how)
            for part in case.parts
            for step in part.steps[_depth(parent.case, part.target) :]
        ]
        vainly = any(_place(how) in undone or (target, how) in self._crashed for target, how in added)
        return vainly and self._roll(f"idle {number}", vain) < IDLE

    def _drawn(self, change: str, left: int, number: int, vain: str) -> float:
        """The more a change brought, the higher, and low once it was at all of its places; by the dice, so
        that none is given up."""
        good, total = self._changes.get(change, (0, 0)) if self.guided else (0, 0)
        weight = (0.5 + (good + 1) / (total + 2)) / max(1, 2 - left)
        return float(self._roll(f"change {change} {number} {vain}", 0) ** (1 / weight))

    def _roll(self, purpose: str, n: int) -> float:
        return unit(self.seed, "fuzz", "corpus", purpose, n, "search")


def _place(how: str) -> str:
    """Where a step's words have it."""
    return how.rpartition(" at ")[2]


def _depth(case: Case, target: Target) -> int:
    """How many steps a case has at a target."""
    part = case.part(target)
    return 0 if part is None else len(part.steps)
