"""Failure rates of runs in which some parts are as in the failed run, and intervals of their sums.

A *coalition* is the set of parts that a run has as in the failed run; all others are as in the calm run.
What is asked of a step is always a weighted sum of rates of coalitions, such as the rate of the whole minus
the rate without the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Coalition = frozenset[int]
CUT, SHORT_CUT, SHORT = 1.92, 1.4, 12
"""By how much the log-likelihood may fall within the interval of one rate: half the quantile of chi-squared
for 95 %; and less for a rate of fewer runs than `SHORT`. Those take few values, so that sums of them would
cover 97 to 98 % (`tests/bench/blame.py` measures what they cover)."""
STEPS = 40
"""Halvings of an interval's edge: exact to 12 digits."""


@dataclass(slots=True)
class Counts:
    """Outcomes of the runs of one coalition."""

    failed: int = 0
    passed: int = 0
    undecided: int = 0

    @property
    def runs(self) -> int:
        """Those that were judged."""
        return self.failed + self.passed

    @property
    def tried(self) -> int:
        """All of them."""
        return self.runs + self.undecided

    @property
    def rate(self) -> float:
        """The share that failed, ½ where there is none."""
        return self.failed / self.runs if self.runs else 0.5

    def add(self, failed: bool | None) -> None:
        """Count an outcome; None where it could not be judged."""
        self.failed += failed is True
        self.passed += failed is False
        self.undecided += failed is None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sum of rates with its 95 % interval."""

    value: float
    low: float
    high: float

    def covers(self, value: float) -> bool:
        """Is the value in the interval?"""
        return self.low - 1e-9 <= value <= self.high + 1e-9


def estimate(weights: Mapping[Coalition, float], counts: Mapping[Coalition, Counts]) -> Estimate:
    """A weighted sum of the coalitions' failure rates.

    Method: MOVER (Zou, Huang, Zhang 2009, Comput. Stat. Data Anal. 53, 1080-1085) over likelihood-ratio
    intervals, which do not depend on the rule by which runs were stopped (Royall 1997, *Statistical
    Evidence*, 1.8). What the sum cannot reach is cut off; where a rate has no run, nothing
    is known but that.
    """
    value = below = above = least = most = 0.0
    for coalition, weight in weights.items():
        known = counts.get(coalition) or Counts()
        low, high = likelihood_interval(known.failed, known.runs)
        ends = sorted((weight * low, weight * high))
        term = weight * known.rate
        value += term
        below += (term - ends[0]) ** 2
        above += (ends[1] - term) ** 2
        least, most = least + min(0.0, weight), most + max(0.0, weight)
    if not all(one in counts and counts[one].runs for one in weights):
        return Estimate(value, least, most)
    return Estimate(value, max(least, value - sqrt(below)), min(most, value + sqrt(above)))


def merged(*sums: Mapping[Coalition, float]) -> dict[Coalition, float]:
    """Several weighted sums as one: a coalition that stands in two of them has one weight."""
    found: dict[Coalition, float] = {}
    for one in sums:
        for coalition, weight in one.items():
            found[coalition] = found.get(coalition, 0.0) + weight
    return {coalition: weight for coalition, weight in found.items() if abs(weight) > 1e-12}


@lru_cache(maxsize=4096)
def likelihood_interval(failed: int, runs: int) -> tuple[float, float]:
    """The rates under which the outcomes are not much less likely than under their own share."""
    if not runs:
        return 0.0, 1.0
    best = failed / runs
    limit = _ln_likelihood(failed, runs, best) - (CUT if runs >= SHORT else SHORT_CUT)
    return _edge(failed, runs, best, 0.0, limit), _edge(failed, runs, best, 1.0, limit)


def _edge(failed: int, runs: int, inside: float, outside: float, limit: float) -> float:
    """Where the likelihood falls below the limit, between a rate that is inside and the last one."""
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if _ln_likelihood(failed, runs, middle) >= limit:
            inside = middle
        else:
            outside = middle
    return inside


def _ln_likelihood(failed: int, runs: int, rate: float) -> float:
    parts = ((failed, rate), (runs - failed, 1 - rate))
    if any(count and chance <= 0 for count, chance in parts):
        return float("-inf")
    return sum(count * log(chance) for count, chance in parts if count)
