"""Evolution under a budget: which mutant is mutated how, what is kept, and which failures are confirmed.

Pure, and the same for the same seed and the same outcomes. What an agent does is its behaviour: a signature
of its traffic. A mutant that shows a behaviour that none showed before is kept as a parent, since it came
somewhere new; failures alone would leave the search blind until the first one (novelty search: Lehman and
Stanley, Abandoning Objectives, 2011). Types of mutation that led to failures or to news are chosen more
often (Thompson sampling: Thompson 1933). A failure is repeated before it counts, and its prompt as well: a
prompt that fails by itself says nothing of its mutants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.contract.statistics import rate
from faultwire.dice import unit
from faultwire.evolution.mutant import Evolved, child, types

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Phase = Literal["prompt", "search", "confirm"]
Ended = Literal["budget", "finds", "exhausted"]
KEPT = 24
"""Parents at once; the oldest without a failure among its children goes first."""
DEEPEST = 4
"""Steps of a lineage."""
EDGE = 1e-9
"""How near a quantile may be to those that no interval has."""
TRIES = 200
"""Throws in a row that bring no new mutant before the search counts as exhausted."""


class Seen(NamedTuple):
    """What a run showed: did it fail (None: that is not known), and its behaviour."""

    failed: bool | None
    behaviour: str
    reason: str = ""


class Tried(NamedTuple):
    """A run of the search, in order."""

    number: int
    phase: Phase
    mutant: Evolved
    seen: Seen


@dataclass(frozen=True, slots=True)
class Failure:
    """A mutant that failed; `failed` of `runs` are its confirmations alone."""

    mutant: Evolved
    reason: str
    failed: int
    runs: int

    @property
    def confirmed(self) -> bool:
        """Did it fail whenever it was asked again?"""
        return self.runs > 0 and self.failed == self.runs


@dataclass(frozen=True, slots=True)
class Result:
    """What the search did and found; `unfit` are the prompts that fail by themselves, or that cannot be
    judged."""

    tried: tuple[Tried, ...]
    failures: tuple[Failure, ...]
    unfit: tuple[int, ...]
    ended: Ended
    behaviours: int


class OutOfRuns(Exception):
    """The next run would be over the budget."""


@dataclass
class Evolution:
    """One search. Of `budget` runs each prompt takes `confirm`, and each failure as many again; `finds`
    failures end it."""

    prompts: Sequence[str]
    ask: Callable[[Evolved, int, Phase], Seen]
    seed: int
    budget: int
    confirm: int = 2
    finds: int = 10
    allowed: tuple[str, ...] = field(default_factory=types)
    tried: list[Tried] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    _parents: list[Evolved] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _behaviours: set[str] = field(default_factory=set)
    _types: dict[str, list[int]] = field(default_factory=dict)
    _throws: dict[tuple[str, str], int] = field(default_factory=dict)

    def run(self) -> Result:
        """Search; raises what `ask` raises."""
        unfit: list[int] = []
        ended: Ended = "budget"
        try:
            unfit = self._start()
            ended = self._search()
        except OutOfRuns:
            pass
        return Result(tuple(self.tried), tuple(self.failures), tuple(unfit), ended, len(self._behaviours))

    def _start(self) -> list[int]:
        """Ask the prompts as they are; those that pass are the first parents."""
        unfit = []
        for number, text in enumerate(self.prompts):
            prompt = Evolved(number, text)
            seen = [self._ask(prompt, "prompt") for _ in range(self.confirm)]
            self._known.add(prompt.id)
            self._behaviours.update(one.behaviour for one in seen)
            if all(one.failed is False for one in seen):
                self._parents.append(prompt)
            else:
                unfit.append(number)
        return unfit

    def _search(self) -> Ended:
        while len(self.failures) < self.finds:
            if not self._parents:
                return "exhausted"
            mutant = self._next()
            if mutant is None:
                return "exhausted"
            self._known.add(mutant.id)
            if len(self.tried) + 1 + self.confirm > self.budget:
                raise OutOfRuns  # a failure could not be confirmed any more
            seen = self._ask(mutant, "search")
            new = seen.behaviour not in self._behaviours
            self._behaviours.add(seen.behaviour)
            self._rewarded(mutant.lineage[-1].type, good=bool(seen.failed) or new)
            if seen.failed:
                self._confirm(mutant, seen.reason)
            elif seen.failed is False and new and len(mutant.lineage) < DEEPEST:
                self._keep(mutant)
        return "finds"

    def _ask(self, mutant: Evolved, phase: Phase) -> Seen:
        if len(self.tried) >= self.budget:
            raise OutOfRuns
        number = len(self.tried) + 1
        seen = self.ask(mutant, number, phase)
        self.tried.append(Tried(number, phase, mutant, seen))
        return seen

    def _confirm(self, mutant: Evolved, reason: str) -> None:
        seen = [self._ask(mutant, "confirm") for _ in range(self.confirm)]
        judged = [one for one in seen if one.failed is not None]
        self.failures.append(Failure(mutant, reason, sum(bool(one.failed) for one in judged), len(judged)))

    def _keep(self, mutant: Evolved) -> None:
        self._parents.append(mutant)
        if len(self._parents) > KEPT:
            oldest = next((at for at, one in enumerate(self._parents) if one.lineage), 0)
            del self._parents[oldest]

    def _next(self) -> Evolved | None:
        """A new mutant: a parent by the dice, and a type by what types brought so far."""
        at = len(self.tried)
        for vain in range(TRIES):
            parent = self._parents[int(self._roll(f"parent {at}", vain) * len(self._parents))]
            chosen = max(self.allowed, key=lambda name, vain=vain: (self._drawn(name, at, vain), name))  # type: ignore[misc]
            throw = self._throws.get((parent.id, chosen), 0)
            self._throws[parent.id, chosen] = throw + 1
            made = child(parent, chosen, throw, self.seed)
            if made is not None and made.id not in self._known:
                return made
        return None

    def _drawn(self, name: str, at: int, vain: int) -> float:
        """A draw from what is known of a type: Beta(good + 1, others + 1), by its quantile."""
        good, total = self._types.get(name, (0, 0))
        chance = min(max(self._roll(f"type {name} {at}", vain), EDGE), 1 - EDGE)
        if abs(chance - 0.5) < EDGE:
            chance += 2 * EDGE
        if chance < 0.5:
            return rate(good + 1, total + 1, "clopper_pearson", 1 - 2 * chance).low
        return rate(good, total + 1, "clopper_pearson", 2 * chance - 1).high

    def _rewarded(self, name: str, *, good: bool) -> None:
        counts = self._types.setdefault(name, [0, 0])
        counts[0] += good
        counts[1] += 1

    def _roll(self, purpose: str, n: int) -> float:
        return unit(self.seed, "evolution", "search", purpose, n, "search")
