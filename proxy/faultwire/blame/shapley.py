"""Shapley values and pair interactions of a few parts, as weighted sums of rates; and walks for many.

The value of a part is its mean marginal contribution over all orders (Shapley 1953); the interaction of two
is the mean, over all contexts, of what both do beyond the sum of each (Grabisch, Roubens 1999, Int. J. Game
Theory 28, 547-565). Parts that are not among the survivors are as in the calm run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import factorial, sqrt
from typing import TYPE_CHECKING

from faultwire.blame.rates import Coalition, Estimate, merged
from faultwire.dice import unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CRITICAL = 2.05
"""The two-sided 95 % quantile of Student's t for about 30 walks."""


def subsets(parts: Sequence[int]) -> Iterator[Coalition]:
    """All subsets, by size."""
    for size in range(len(parts) + 1):
        yield from map(frozenset, combinations(parts, size))


def value_weights(part: int, parts: Sequence[int]) -> dict[Coalition, float]:
    """The Shapley value of a part among the survivors as a sum over their coalitions."""
    others, total = [one for one in parts if one != part], len(parts)
    return merged(
        *(
            {one | {part}: weight, one: -weight}
            for one in subsets(others)
            if (weight := factorial(len(one)) * factorial(total - len(one) - 1) / factorial(total))
        )
    )


def pair_weights(first: int, second: int, parts: Sequence[int]) -> dict[Coalition, float]:
    """The interaction of two parts: positive where both are needed, negative where either is enough."""
    others, total = [one for one in parts if one not in (first, second)], len(parts)
    return merged(
        *(
            {
                one | {first, second}: weight,
                one | {first}: -weight,
                one | {second}: -weight,
                one: weight,
            }
            for one in subsets(others)
            if (weight := factorial(len(one)) * factorial(total - len(one) - 2) / factorial(total - 1))
        )
    )


@dataclass
class Walks:
    """Random orders of many survivors: each is walked from the calm run on, one part after the other, and the
    step at which a run begins to fail is the marginal contribution of its part. One run for each step."""

    parts: tuple[int, ...]
    count: int = 30
    seed: int = 0
    outcomes: list[bool | None] = field(default_factory=list)

    def candidate(self) -> Coalition | None:
        """The coalition of the next run; None at the end."""
        walk, at = divmod(len(self.outcomes), len(self.parts) + 1)
        return None if walk >= self.count else frozenset(self._order(walk)[:at])

    def record(self, failed: bool | None) -> None:
        """What came of that run."""
        self.outcomes.append(failed)

    def values(self) -> Mapping[int, Estimate]:
        """The value of each part, from the walks that are complete: mean, and its interval by Student's t."""
        gains: dict[int, list[int]] = {part: [] for part in self.parts}
        size = len(self.parts) + 1
        for walk in range(len(self.outcomes) // size):
            failed = self.outcomes[walk * size : (walk + 1) * size]
            for part, before, after in zip(self._order(walk), failed, failed[1:], strict=False):
                if before is not None and after is not None:
                    gains[part].append(int(after) - int(before))
        return {part: _mean(found) for part, found in gains.items()}

    def _order(self, walk: int) -> list[int]:
        return sorted(self.parts, key=lambda one: unit(self.seed, "blame", "walk", str(one), walk))


def _mean(found: Sequence[int]) -> Estimate:
    if len(found) < 2:
        return Estimate(0.0, -1.0, 1.0)
    mean = sum(found) / len(found)
    variance = sum((one - mean) ** 2 for one in found) / (len(found) - 1)
    half = CRITICAL * sqrt(max(variance, 1 / len(found)) / len(found))
    return Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half))
