"""What a search without a find may claim: which sets of faults were run, and why each other one was not.

A set is left out only for a reason that holds of it, and each is listed:

- *same call*: one call takes one fault.
- *not met*: with the one fault, the call of the other never comes, so that both together are that one.
- *together*: both fired in a run with further faults, and it passed.
- *same reaction*: another fault on the same call made the agent do exactly the same, and that one was run.
- *lineage*: each alone left every later request and the output as they were, and no bytes lead from the one
  call to the other.

The last three suppose that the agent carries nothing from call to call that its requests do not show. Where
the lineage is hidden (something changed where no bytes lead), they are not used.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

from faultwire.explore.space import effect, reached

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.explore.space import Call, Faults, Observation, Point

Reason = Literal[
    "run", "a find", "same call", "not met", "together", "same reaction", "lineage", "undecided", "open"
]  # fmt: skip


@dataclass(slots=True)
class Known:
    """All that runs have shown. `passed` holds one observation of each set that passed."""

    calm: Observation
    steady: bool = True
    passed: dict[Faults, Observation] = field(default_factory=dict)
    finds: list[Faults] = field(default_factory=list)
    undecided: set[Faults] = field(default_factory=set)
    together: set[Faults] = field(default_factory=set)
    """Pairs that fired in one passing run with others."""
    why_hidden: str = ""
    _calm_calls: frozenset[Call] = frozenset()
    _reached: dict[Call, frozenset[Call | None]] = field(default_factory=dict)
    _absorbed: dict[Point, bool] = field(default_factory=dict)
    _reactions: dict[Point, object] = field(default_factory=dict)
    _alikes: dict[object, list[Point]] = field(default_factory=dict)
    _calls: dict[Point, frozenset[Call]] = field(default_factory=dict)
    _alone: dict[Point, Observation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the calm run."""
        self._calm_calls = frozenset(self.calm.asked)

    def reached(self, call: Call) -> frozenset[Call | None]:
        """Where bytes of a call's answer lead in the calm run."""
        if call not in self._reached:
            self._reached[call] = reached(self.calm, call)
        return self._reached[call]

    @property
    def is_visible(self) -> bool:
        """May anything be left out because of what requests show?"""
        return self.steady and not self.why_hidden

    def holds_find(self, faults: Faults) -> bool:
        """Is a set that fails a part of this one?"""
        return any(one <= faults for one in self.finds)

    def passes(self, faults: Faults) -> bool:
        """Is a set known to pass? One whose calls never come without a fault is the calm run."""
        never = not any(point.call in self._calm_calls for point in faults)
        return faults in self.passed or (self.steady and never)

    def take(self, faults: Faults, run: Observation) -> None:
        """A run that passed."""
        self.passed[faults] = run
        fired = sorted(run.fired & faults)
        if len(faults) > 2:
            self.together.update(map(frozenset, combinations(fired, 2)))
        if len(faults) == 1:
            (point,) = faults
            self.why_hidden = self.why_hidden or hidden(self.calm, run, point)
            changed = effect(self.calm, run)
            quiet = not (changed.changed or changed.missing) and run.output == self.calm.output
            self._absorbed[point], self._calls[point] = quiet, frozenset(run.asked)
            self._alone[point] = run
            self._reactions[point] = reaction = hash((point.call, run.calls, run.output))
            self._alikes.setdefault(reaction, []).append(point)

    def take_find(self, faults: Faults) -> None:
        """A set that fails; so do those with other faults that the agent takes alike, unless they passed."""
        alike = [self._alikes.get(self._reactions.get(point), [point]) for point in sorted(faults)]
        variants = (frozenset(one) for one in product(*alike))
        new = {faults, *(one for one in variants if one not in self.passed)} if self.is_visible else {faults}
        self.finds += sorted(new - set(self.finds), key=sorted)
        self.passed = {one: run for one, run in self.passed.items() if not faults <= one}

    # ------------------------------------------------------------ pairs

    def alone(self, point: Point) -> Observation | None:
        """The run with this fault alone, if it passed, whatever was found since."""
        return self._alone.get(point)

    def single(self, point: Point) -> Observation | None:
        """The run with this fault alone, if it passed."""
        return self.passed.get(frozenset([point]))

    def of_single(self, point: Point) -> Reason:
        """What is known of one fault alone."""
        alone = frozenset([point])
        if alone in self.passed:
            return "run"
        if self.holds_find(alone):
            return "a find"
        return "undecided" if alone in self.undecided else "open"

    def reason(self, one: Point, other: Point) -> Reason:
        """What is known of a pair."""
        pair = frozenset([one, other])
        if pair in self.passed:
            return "run"
        if self.holds_find(pair):
            return "a find"
        if pair in self.undecided:
            return "undecided"
        if one.call == other.call:
            return "same call"
        if self.steady and (self._never_together(one, other) or self._never_together(other, one)):
            return "not met"
        if not self.is_visible:
            return "open"
        if pair in self.together:
            return "together"
        if any(self._alike(*both) for both in ((one, other), (other, one))):
            return "same reaction"
        return "lineage" if self._apart(one, other) else "open"

    def _never_together(self, one: Point, other: Point) -> bool:
        """Does the call of `other` never come once `one` has fired?"""
        calls = self._calls.get(one)
        return calls is not None and other.call not in calls

    def reaction(self, point: Point) -> object:
        """What a fault alone made the agent do; equal for faults that it takes alike."""
        return self._reactions.get(point)

    def _alike(self, one: Point, other: Point) -> bool:
        """Was another fault on the call of `one`, which the agent takes alike, run with `other`?"""
        pairs = (
            frozenset([point, other]) for point in self._alikes.get(self.reaction(one), ()) if point != one
        )
        return any(pair in self.passed or pair in self.together for pair in pairs)

    def is_absorbed(self, point: Point) -> bool:
        """Left a fault alone every later request and the output as they were?"""
        return self._absorbed.get(point, False)

    def _apart(self, one: Point, other: Point) -> bool:
        pairs = ((one, other), (other, one))
        return all(self.is_absorbed(a) and b.call not in self.reached(a.call) for a, b in pairs)


def hidden(calm: Observation, run: Observation, point: Point) -> str:
    """Why the lineage does not show what a fault changed; empty where it does."""
    if calm.unread or run.unread:
        return "the bytes of some exchanges could not be looked at"
    changes = effect(calm, run)
    shown = reached(calm, point.call)
    for call in sorted(changes.changed):
        if call != point.call and call not in shown:
            return f"{point.text} changed {call.text}, to which no bytes lead"
    if run.output != calm.output and None not in shown:
        return f"{point.text} changed the agent's output, to which no bytes lead"
    return ""


@dataclass(frozen=True, slots=True)
class Claim:
    """The sets of one size by what is known of each; `holds` where none is open or undecided."""

    depth: int
    faults: int
    counts: Counter[Reason]
    excluded: tuple[tuple[Faults, Reason], ...]
    holds: bool
    why_not: str = ""


def claim(known: Known, points: Iterable[Point], extra: Iterable[Faults], depth: int) -> Claim:
    """What holds of all sets of up to `depth` faults among `points`, and of the pairs `extra` with faults on
    calls that came only because of another fault."""
    every = sorted(points)
    counts: Counter[Reason] = Counter()
    excluded: list[tuple[Faults, Reason]] = []
    for point in every:
        reason = known.of_single(point)
        counts[reason] += 1
        if reason != "run":
            excluded.append((frozenset([point]), reason))
    pairs = [*combinations(every, 2), *(tuple(sorted(pair)) for pair in extra)] if depth > 1 else []
    for one, other in pairs:
        reason = known.reason(one, other)
        counts[reason] += 1
        if reason != "run":
            excluded.append((frozenset([one, other]), reason))
    why_not = ""
    if counts["undecided"]:
        why_not = f"{_sets(counts['undecided'])} run and could not be judged"
    if counts["open"]:
        why_not = f"{_sets(counts['open'])} not run and {'is' if counts['open'] == 1 else 'are'} not excluded"
        if known.why_hidden:
            why_not += f": the lineage is hidden: {known.why_hidden}"
        elif not known.steady:
            why_not += ": two runs without faults differ (`faultwire audit` says why)"
    return Claim(depth, len(every), counts, tuple(excluded), not why_not, why_not)


def _sets(count: int) -> str:
    return "1 set was" if count == 1 else f"{count} sets were"
