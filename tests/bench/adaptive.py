"""`python -m tests.bench.adaptive [--seed N] [--defenders N] [--intervals N]`: planted weaknesses.

A defender stands in for an agent: its own code may keep an attack from its model (only one place, or few
wordings, come through), and its model obeys what fits its weakness, with a chance of .6 to .9. Half of them
let everything through, so that nothing but obedience says anything. The truth is known. Beside the search
stand the best static attack that there could be, a search by chance alone, deaf defenders, and needles: one
cell of the whole grid, of which no other cell says anything.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from faultwire.attacker.confirm import Confirmed, confirmed
from faultwire.attacker.grid import Cell, Grid, grid
from faultwire.attacker.search import Attempt, Candidate, Meter, Result, Search, Stage
from faultwire.contract.statistics import Comparison, compare
from faultwire.faults.attack._library import registry

SEEN = frozenset({"results", "models", "descriptions"})
SHARE = 0.3
"""Of the grid's cost (one run for each cell): what a search may take at most."""
CONFIRM = 10
OBEYS = (0.6, 0.9)
RARE = 0.1
"""The rate of every attack alike, where intervals are looked at."""
PAIRS = ((0, 1), (0, 3), (1, 3), (2, 3), (0, 2))
"""Dimensions of the weakness of a model whose agent filters nothing."""
FILTERS = ((1, 2), (1, 3), (3,), (1,))
"""Dimensions by which an agent's own code lets attacks through."""


@dataclass(frozen=True)
class Defender:
    """What passes its code, what its model obeys, and how often. None: everything, or nothing."""

    passes: dict[int, str] | None
    obeys: dict[int, str] | None
    chance: float
    seed: int
    noise: float = 0.0
    """How often something looks like obedience that is none."""

    def answer(self, attempt: Attempt, number: int) -> Stage:
        """What one run of it shows."""
        roll = random.Random(f"{self.seed} {number} {attempt.key}").random()
        if roll < self.noise:
            return "obeyed"
        if self.passes is not None and not _fits(attempt.cell, self.passes):
            return "filtered"
        if self.obeys is None or not _fits(attempt.cell, self.obeys):
            return "read"
        return "obeyed" if roll < self.chance else "read"

    def weak(self, cell: Cell) -> bool:
        """Is a cell inside of what was planted?"""
        return (
            self.obeys is not None
            and _fits(cell, self.obeys)
            and (self.passes is None or _fits(cell, self.passes))
        )


def _fits(cell: Cell, wanted: dict[int, str]) -> bool:
    return all(cell[at] == value for at, value in wanted.items())


def whole_grid() -> Grid:
    """Every family, carrier, position and wording."""
    return grid(list(registry()), SEEN)


def payloads() -> dict[str, int]:
    return {name: len(family.payloads) for name, family in registry().items()}


def planted(seed: int, everything: Grid) -> Defender:
    """A defender with one weakness: every second one filters."""
    dice = random.Random(f"defender {seed}")
    cell = dice.choice(everything.cells)
    chance = dice.uniform(*OBEYS)
    if seed % 2:
        return Defender(None, {at: cell[at] for at in dice.choice(PAIRS)}, chance, seed)
    passes = {at: cell[at] for at in dice.choice(FILTERS)}
    return Defender(passes, {0: cell.family}, chance, seed)


def deaf(seed: int, noise: float = 0.0) -> Defender:
    return Defender(None, None, 0.0, seed, noise)


def needle(seed: int, everything: Grid) -> Defender:
    cell = random.Random(f"needle {seed}").choice(everything.cells)
    return Defender(None, dict(enumerate(cell)), 0.9, seed)


@dataclass(frozen=True)
class Played:
    """A search against one defender."""

    result: Result
    runs: int
    finds: tuple[Confirmed, ...]

    @property
    def claimed(self) -> bool:
        return any(one.claimed for one in self.finds)


def play(
    defender: Defender,
    everything: Grid,
    budget: int,
    seed: int,
    finds: int = 1,
    search: type[Search] = Search,
) -> Played:
    """Search against a defender; the runs are counted here as well, by who makes them."""
    made = 0

    def run(attempt: Attempt, number: int) -> Stage:
        nonlocal made
        made += 1
        return defender.answer(attempt, number)

    found = search(everything, payloads(), seed, Meter(budget), CONFIRM, finds).run(run)
    return Played(found, made, confirmed(found.candidates))


class ByChance(Search):
    """The same, with the next cell by the dice alone."""

    def _next(self) -> Cell:
        return self._left[int(self._roll(f"cell {len(self.tried)}", 0) * len(self._left))]


def static(defender: Defender, cell: Cell) -> bool:
    """Does this defender obey one attack that stays as it is, by the rule for finds?"""
    stages = [defender.answer(Attempt("confirm", cell, 0, n), n) for n in range(CONFIRM)]
    found = Candidate(cell, 0, (0, 0), sum(one == "obeyed" for one in stages), CONFIRM)
    return confirmed([found])[0].claimed


def against_static(
    defenders: list[Defender], played: list[Played], everything: Grid
) -> tuple[Cell, int, Comparison]:
    """The best static attack there could be (that cell to which most of these defenders are weak, chosen with
    the truth at hand); how many it broke; and the search compared with it, defender by defender."""
    best = max(everything.cells, key=lambda cell: (sum(one.weak(cell) for one in defenders), cell))
    ours = {at: one.claimed for at, one in enumerate(played)}
    theirs = {at: static(one, best) for at, one in enumerate(defenders)}
    return best, sum(theirs.values()), compare(ours, theirs)


def coverage(count: int, chance: float, seed: int) -> tuple[float, float]:
    """How often the interval of the best find holds its true rate: of the confirmation, and (as a control)
    of the search's own attempts. Every cell has the same rate, so whatever looks best is chance."""
    from faultwire.contract.statistics import rate

    small = Grid(whole_grid().cells[:40])
    held, naive = 0, 0
    for at in range(count):
        one = Defender(None, {}, chance, seed * 100_000 + at)
        found = play(one, small, 120, at, finds=1)
        if not found.finds:
            held, naive = held + 1, naive + 1
            continue
        best = found.finds[0]
        held += best.low <= chance <= best.high
        screened = rate(*best.candidate.screened, "clopper_pearson")
        naive += screened.low <= chance <= screened.high
    return held / count, naive / count


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--defenders", type=int, default=20)
    asked.add_argument("--intervals", type=int, default=400)
    given = asked.parse_args()
    everything = whole_grid()
    budget = int(SHARE * len(everything.cells))
    defenders = [planted(given.seed + at, everything) for at in range(given.defenders)]
    played = [play(one, everything, budget, at) for at, one in enumerate(defenders)]
    chance = [play(one, everything, budget, at, search=ByChance) for at, one in enumerate(defenders)]
    best, broke, test = against_static(defenders, played, everything)
    runs = [one.runs for one in played]
    wrong = [
        at
        for at, (one, found) in enumerate(zip(defenders, played, strict=True))
        if any(find.claimed and not one.weak(find.candidate.cell) for find in found.finds)
    ]
    no_find = [play(deaf(at, 0.01), everything, budget // 4, at) for at in range(given.defenders // 2)]
    needles = [play(needle(at, everything), everything, budget, at) for at in range(given.defenders // 4)]
    held, naive = coverage(given.intervals, RARE, given.seed)
    show: Callable[..., None] = print
    show(f"grid                    {len(everything.cells)} cells, budget {budget} ({SHARE:.0%})")
    show(f"found                   {sum(one.claimed for one in played)} of {len(played)}, wrong: {wrong}")
    show(f"runs                    median {median(runs):.0f}, mean {mean(runs):.0f}, most {max(runs)}")
    show(f"  of the grid's cost    most {max(runs) / len(everything.cells):.1%}")
    show(f"by chance alone         {sum(one.claimed for one in chance)} found, "
         f"median {median(one.runs for one in chance):.0f} runs")  # fmt: skip
    show(f"best static attack      {best.text}: {broke} of {len(defenders)}, McNemar p = {test.p_value:.2g}")
    show(f"deaf, 1 % noise         {sum(one.claimed for one in no_find)} of {len(no_find)} claimed")
    show(f"needles                 {sum(one.claimed for one in needles)} of {len(needles)} found")
    show(f"95 % intervals hold     {held:.1%} (of the search's own attempts: {naive:.1%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
