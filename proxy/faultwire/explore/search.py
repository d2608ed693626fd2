"""The strategies: which sets of faults to run next. Pure: `run_many` runs sets, in the order given.

*lineage* asks of runs that passed what carried them. Each fault alone first; then each together with faults
on the calls that came only because of it (what is left would have to fail, too: Alvaro, Rosen and Hellerstein
2015, SIGMOD, lineage-driven fault injection); then rows of many faults at once that cover the pairs which are
left; then, alone, pairs that no row could cover. *pairwise* and *3-way* run covering arrays, *random* draws
sets of one and two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from faultwire.dice import unit
from faultwire.explore.claim import Claim, Known, claim
from faultwire.explore.covering import covering_array
from faultwire.explore.found import Confirmer, Find
from faultwire.explore.space import effect, key_of, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from faultwire.explore.space import Faults, Observation, Point

Strategy = Literal["lineage", "pairwise", "3-way", "random"]
Ended = Literal["done", "budget", "interrupted", "calm_fails", "undecided"]
WIDEST = 12
"""Faults of one row."""
BATCH = 8
"""Rows that are made before their outcomes are known."""


class OutOfBudget(Exception):
    """The next run would go over the budget."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a search came to."""

    ended: Ended
    finds: tuple[Find, ...]
    runs: int
    claim: Claim | None
    reason: str = ""
    flaky: tuple[Faults, ...] = ()
    """Sets that failed once and not again often enough to be believed."""


@dataclass
class Explorer:
    """One search."""

    run_many: Callable[[Sequence[Faults]], Iterator[Observation]]
    strategy: Strategy = "lineage"
    depth: int = 2
    seed: int = 0
    error: float = 0.05
    noise: float = 0.01
    progress: Callable[[Explorer], None] = lambda _explorer: None
    runs: int = 0
    finds: list[Find] = field(default_factory=list)
    flaky: list[Faults] = field(default_factory=list)
    known: Known | None = None
    _tried: set[Faults] = field(default_factory=set)

    def explore(self) -> Result:
        """Search to the end, or as far as the budget goes."""
        try:
            failed = self._calm()
            if failed is not None:
                return failed
            self._search()
        except OutOfBudget:
            return self._result("budget")
        except KeyboardInterrupt:
            return self._result("interrupted")
        return self._result("done")

    def _result(self, ended: Ended, reason: str = "") -> Result:
        made = None
        if self.known is not None:
            made = claim(self.known, self.known.calm.points, self._caused(), self.depth)
        return Result(ended, tuple(self.finds), self.runs, made, reason, tuple(self.flaky))

    # ------------------------------------------------------------ runs

    def _each(self, sets: Iterable[Faults]) -> Iterator[tuple[Faults, Observation]]:
        """Run sets that were not run yet."""
        new = [one for one in dict.fromkeys(sets) if one not in self._tried]
        for faults, run in zip(new, self.run_many(new), strict=False):
            self.runs += 1
            self._tried.add(faults)
            self._take(faults, run)
            self.progress(self)
            yield faults, run

    def _once(self, faults: Faults) -> Observation:
        self.runs += 1
        return next(iter(self.run_many([faults])))

    def _calm(self) -> Result | None:
        """Two runs without faults: both must pass; are they the same?"""
        runs = [self._once(frozenset()) for _ in range(2)]
        bad = next((run for run in runs if run.failed is not False), None)
        if bad is not None:
            return Result(
                "undecided" if bad.failed is None else "calm_fails", (), self.runs, None, bad.reason
            )
        steady = runs[0].calls == runs[1].calls and runs[0].output == runs[1].output
        self.known = Known(runs[0], steady)
        return None

    def _take(self, faults: Faults, run: Observation) -> None:
        assert self.known is not None
        if run.failed is None:
            self.known.undecided.add(faults)
        elif not run.failed:
            self.known.take(faults, run)
        elif not self.known.holds_find(faults):
            self._find(faults & run.fired or faults)

    def _find(self, faults: Faults) -> None:
        """Confirm, shrink, and keep a failure."""
        assert self.known is not None
        known = self.known
        confirmer = Confirmer(self._once, self.error, self.noise)
        smallest = confirmer.shrink(faults, known.passes, steady=known.steady)
        found = confirmer.confirm(smallest) if smallest else None
        if found is None and smallest is not None and known.steady and len(faults) > 2:
            smallest = confirmer.shrink(faults, known.passes)
            found = confirmer.confirm(smallest) if smallest else None
        if found is None:
            self.flaky.append(faults)
            return
        self.finds.append(found)
        known.take_find(found.faults)

    # ------------------------------------------------------------ strategies

    def _search(self) -> None:
        if self.strategy == "random":
            return self._random()
        for _ in self._each(frozenset([point]) for point in self._ordered()):
            pass
        if self.depth < 2:
            return None
        self._reactions()
        if self.strategy == "lineage":
            self._rows()
            self._alone()
        else:
            self._array(3 if self.strategy == "3-way" else 2)
        return None

    def _ordered(self) -> list[Point]:
        """Faults on calls whose bytes reach most come first."""
        assert self.known is not None
        calm = self.known.calm
        reach = {point.call: len(reached(calm, point.call)) for point in calm.points}
        return sorted(calm.points, key=lambda point: (-reach[point.call], point))

    def _caused(self) -> list[Faults]:
        """Each fault with those on calls that came because of it; of faults that the agent takes alike, one
        stands for all."""
        assert self.known is not None
        known = self.known
        seen: set[object] = set()
        pairs: list[Faults] = []
        for point in self._ordered():
            run, reaction = known.alone(point), known.reaction(point)
            if run is None or reaction in seen:
                continue
            if known.is_visible:
                seen.add(reaction)
            new = effect(known.calm, run).new
            pairs += [frozenset([point, other]) for other in sorted(run.points) if other.call in new]
        return pairs

    def _reactions(self) -> None:
        """Run them: what is left would have to fail, too."""
        assert self.known is not None
        for _ in self._each(pair for pair in self._caused() if not self.known.holds_find(pair)):
            pass

    def _open(self) -> list[tuple[Point, Point]]:
        assert self.known is not None
        known = self.known
        points = [point for point in self._ordered() if known.single(point) is not None]
        pairs = (pair for pair in combinations(points, 2) if frozenset(pair) not in self._tried)
        return [pair for pair in pairs if known.reason(*pair) in ("open", "lineage")]

    def _rows(self) -> None:
        """Rows that cover pairs together. With a hidden lineage they find failures, and prove nothing."""
        assert self.known is not None
        widest = WIDEST
        seen: set[Faults] = set()
        while left := {frozenset(pair) for pair in self._open()} - self.known.together - seen:
            rows: list[Faults] = []
            uncovered = set(left)
            while uncovered and len(rows) < BATCH:
                row = self._row(uncovered, widest)
                rows.append(row)
                uncovered -= {frozenset(pair) for pair in combinations(row, 2)}
            rows = [row for row in rows if len(row) > 2]
            covered = 0
            for row, run in self._each(rows):
                seen.update(map(frozenset, combinations(sorted(run.fired & row), 2)))
                covered += len(run.fired & row) > 1
            if not rows or not seen & left:
                if widest <= 3:
                    return
                widest = max(3, widest // 2)

    def _row(self, left: set[Faults], widest: int) -> Faults:
        """Faults on different calls that stand in most of the pairs which are left."""
        assert self.known is not None
        first = min(left, key=lambda pair: unit(self.seed, "explore", "row", key_of(pair), self.runs))
        row = set(first)
        points = sorted({point for pair in left for point in pair} - row)
        partners: dict[Point, int] = {p: sum(frozenset([p, q]) in left for q in row) for p in points}
        while len(row) < widest:
            calls = {point.call for point in row}
            fitting = [p for p in points if p.call not in calls and partners[p] and not self._bad(row, p)]
            if not fitting:
                break
            best = max(
                fitting, key=lambda p: (partners[p], unit(self.seed, "explore", "fit", p.text, len(left)))
            )
            row.add(best)
            for p in points:
                partners[p] += frozenset([p, best]) in left
        return frozenset(row)

    def _bad(self, row: set[Point], point: Point) -> bool:
        assert self.known is not None
        return self.known.holds_find(frozenset([*row, point]))

    def _alone(self) -> None:
        """The pairs that are still open, one by one."""
        assert self.known is not None
        while left := [pair for pair in self._open() if self.known.reason(*pair) == "open"]:
            before = len(self._tried)
            for _ in self._each(map(frozenset, left[:BATCH])):
                pass
            if len(self._tried) == before:
                return

    def _array(self, strength: int) -> None:
        """The rows of a covering array over the calls: no fault, or one of those that it passed alone."""
        assert self.known is not None
        by_call: dict[object, list[Point]] = {}
        for point in self._ordered():
            if self.known.single(point) is not None:
                by_call.setdefault(point.call, []).append(point)
        factors = list(by_call.values())
        if len(factors) < 2:
            return
        rows = covering_array([len(one) + 1 for one in factors], min(strength, len(factors)), self.seed)
        chosen = [
            frozenset(factor[level - 1] for factor, level in zip(factors, row, strict=True) if level)
            for row in rows
        ]
        for row in chosen:
            while self.known.holds_find(row):  # what is left of the row without what fails anyway
                row = next(row - one for one in self.known.finds if one <= row)
            for _ in self._each([row] if row else []):
                pass
        self._alone()

    def _random(self) -> None:
        """Sets of one and two in random order; pairs with a call that a fault alone has caused join in."""
        assert self.known is not None
        points = sorted(self.known.calm.points)
        sets = [frozenset([point]) for point in points]
        if self.depth > 1:
            sets += [frozenset(pair) for pair in combinations(points, 2) if pair[0].call != pair[1].call]
        left: dict[Faults, float] = {}
        while sets or left:
            for one in sets:
                left[one] = unit(self.seed, "explore", "random", key_of(one), 0)
            first = min(left, key=lambda one: left[one])
            del left[first]
            sets = []
            for faults, run in self._each([first]):
                if len(faults) == 1 < self.depth:
                    new = run.points - self.known.calm.points
                    sets = [frozenset([*faults, point]) for point in sorted(new)]
