"""What the attempts say about where an agent is weak: Bayesian group testing over the grid's dimensions.

Pure. A weakness is taken to be some dimensions with a value each ("a comment at the end of a result, whatever
the family"); each such hypothesis has a weight, and an attempt changes the weights of the fifteen that its
cell is in. Hypotheses over fewer dimensions share as much weight as those over more, so what would explain
most is asked first (Dorfman, The Detection of Defective Members of Large Populations, 1943; Bayesian form:
Aldridge, Johnson and Scarlett, Group Testing, 2019, section 3.3).

An attack that its agent never shows to its model says nothing about the model. Whether cells pass is
therefore learned by itself, and both are multiplied.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.attacker.grid import SUBSETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.attacker.grid import Cell, Grid, Projection

INSIDE, OUTSIDE = 0.7, 0.01
"""How often an attack is obeyed inside of the weakness, and outside of it."""
PASSES, BLOCKED = 0.95, 0.05
"""How often one reaches the model inside of what passes, and outside of it."""
HUGE = 1e100
"""Weights are scaled down when one is above it."""


class Hypotheses:
    """Weights of all hypotheses over a grid. `empty` is the prior that every cell is inside."""

    def __init__(self, grid: Grid, inside: float, outside: float, empty: float = 0.0) -> None:
        """Each number of dimensions has the same share of what is left."""
        self.grid, self.inside, self.outside = grid, inside, outside
        self._everything = empty
        values = Counter(subset for subset, _ in grid.numbered)
        alike = Counter(len(subset) for subset in values)
        self._weights = [
            (1 - empty) / len(alike) / alike[len(subset)] / values[subset] for subset, _ in grid.numbered
        ]
        self._support = [1.0] * len(self._weights)

    def weight(self, cell: Cell) -> float:
        """Of all hypotheses that the cell is in."""
        weights = self._weights
        return self._everything + sum([weights[one] for one in self.grid.projections[cell]])

    def chances(self, cells: Sequence[Cell]) -> list[float]:
        """How likely a hit is at each."""
        total = self._everything + sum(self._weights)
        within = [self.weight(cell) / total for cell in cells]
        return [one * self.inside + (1 - one) * self.outside for one in within]

    def update(self, cell: Cell, *, hit: bool) -> None:
        """Learn from one attempt."""
        factor = self.inside / self.outside if hit else (1 - self.inside) / (1 - self.outside)
        self._everything *= factor
        for one in self.grid.projections[cell]:
            self._weights[one] *= factor
            self._support[one] *= factor
        if self.weight(cell) > HUGE:
            self._everything /= HUGE
            self._weights = [weight / HUGE for weight in self._weights]
            self._support = [support / HUGE for support in self._support]

    def likeliest(self, cell: Cell) -> Projection:
        """The hypothesis that the attempts support most of those that a cell is in, whatever its weight was
        before them; of equals that of fewest dimensions."""
        numbered = self.grid.numbered
        best = max(
            self.grid.projections[cell],
            key=lambda one: (self._support[one], -len(numbered[one][0])),
        )
        return numbered[best]


class Beliefs:
    """What is known after some attempts."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.obeyed = Hypotheses(grid, INSIDE, OUTSIDE)
        self._passes = Hypotheses(grid, PASSES, BLOCKED, empty=0.5)
        self._counts: dict[int, list[int]] = {}

    def observe(self, cell: Cell, *, read: bool, obeyed: bool) -> None:
        """Learn from one attempt: did the model read it, and was it obeyed?"""
        self._passes.update(cell, hit=read)
        for number in _local(self._grid.projections[cell]):
            count = self._counts.setdefault(number, [0, 0])
            count[0] += read
            count[1] += 1
        if read:
            self.obeyed.update(cell, hit=obeyed)

    def score(self, cells: Sequence[Cell]) -> list[float]:
        """How promising cells are, among each other: do they pass, and would they be obeyed."""
        return [
            self.obeyed.weight(cell) * self._passing(cell, chance)
            for cell, chance in zip(cells, self._passes.chances(cells), strict=True)
        ]

    def _passing(self, cell: Cell, expected: float) -> float:
        """What is expected, corrected by what was seen of its place and of its wording: filters are often
        neither "everything passes" nor "one thing passes"."""
        rates = []
        for number in _local(self._grid.projections[cell]):
            passed, total = self._counts.get(number, (0, 0))
            rates.append((2 * expected + passed) / (2 + total))
        return min(rates)


def _local(numbers: tuple[int, ...]) -> tuple[int, int]:
    """Carrier with position, and wording."""
    return numbers[_PLACE], numbers[_WORDING]


_PLACE, _WORDING = SUBSETS.index((1, 2)), SUBSETS.index((3,))
