"""When did the failure become inevitable? P(fail | forked at step t) over t, and where it changes.

A run that is forked at step t has everything up to t as in the failed run and is calm from there on. The rate
over t is the curve; the change point is the step at which it jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma
from typing import TYPE_CHECKING

from faultwire._core import clopper_pearson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.blame.rates import Counts

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Point:
    """The runs that were forked after `step` steps, and the band of their failure rate."""

    step: int
    failed: int
    runs: int
    low: float
    high: float

    @property
    def rate(self) -> float | None:
        """The share that failed; None without a run."""
        return self.failed / self.runs if self.runs else None


@dataclass(frozen=True, slots=True)
class Change:
    """The step that most probably changed the rate, and the steps from `low` to `high` that hold 95 % of the
    probability; `probability` is that of any change at all."""

    step: int
    low: int
    high: int
    probability: float


def band(counts: Sequence[Counts]) -> list[Point]:
    """The curve; all its intervals hold at once (Clopper-Pearson with Bonferroni's correction).

    `counts[t]` are the runs with the first t steps as in the failed run."""
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(counts))
    return [
        Point(t, one.failed, one.runs, *clopper_pearson_interval(one.failed, one.runs, confidence))
        for t, one in enumerate(counts)
    ]


def change_point(counts: Sequence[Counts]) -> Change | None:
    """The step at which the rate changed: `step` k says that runs with the first k steps fail as often as the
    whole, and runs with fewer do not. None where no change is more likely than one.

    Bayes with a uniform prior over the steps and over both rates (Smith 1975, Biometrika 62, 407-416), and
    even odds for no change at all.
    """
    places = range(1, len(counts))
    if not places:
        return None
    logs = [_ln_marginal(counts[:k]) + _ln_marginal(counts[k:]) for k in places]
    none, most = _ln_marginal(counts), max(logs)
    shares = [exp(one - most) for one in logs]
    total = sum(shares)
    any_at_all = total / len(shares)
    probability = any_at_all / (any_at_all + exp(min(700.0, none - most)))
    if probability <= 0.5:
        return None
    best = max(range(len(shares)), key=lambda at: shares[at])
    low = high = best
    held = shares[best]
    while held < CONFIDENCE * total:
        left = shares[low - 1] if low else -1.0
        right = shares[high + 1] if high + 1 < len(shares) else -1.0
        low, high = (low - 1, high) if left >= right else (low, high + 1)
        held += max(left, right)
    return Change(best + 1, low + 1, high + 1, probability)


def _ln_marginal(counts: Sequence[Counts]) -> float:
    failed, passed = sum(one.failed for one in counts), sum(one.passed for one in counts)
    return lgamma(failed + 1) + lgamma(passed + 1) - lgamma(failed + passed + 2)
