"""Is the failure rate of a coalition that of the whole, or that of the calm run? A sequential test.

Both rates are learned from runs of their own; each has the posterior of a uniform prior over them and is
integrated out of the likelihood ratio, as in `trials.sequential.MixtureTest`, which is told one of them.
Averaged over the rates, the error rates hold whenever one stops (Wald 1947; Robbins 1970).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.blame.rates import Counts

Decided = Literal["whole", "calm", "open"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Runs of the whole and of the calm run."""

    whole: Counts
    calm: Counts

    def evidence(self, counts: Counts) -> float:
        """The logarithm of the likelihood ratio: positive speaks for the rate of the whole."""
        return _predictive(self.whole, counts) - _predictive(self.calm, counts)

    def decide(self, counts: Counts, for_whole: float, for_calm: float) -> Decided:
        """`for_whole` bounds how often a coalition with the calm rate is said to fail as the whole does, and
        `for_calm` the other error."""
        evidence = self.evidence(counts)
        if evidence >= -log(for_whole):
            return "whole"
        return "calm" if evidence <= log(for_calm) else "open"


def _predictive(known: Counts, new: Counts) -> float:
    return _ln_predictive(known.failed + 1, known.passed + 1, new.failed, new.passed)


@lru_cache(maxsize=1 << 16)
def _ln_predictive(failed: int, passed: int, new_failed: int, new_passed: int) -> float:
    return _ln_beta(failed + new_failed, passed + new_passed) - _ln_beta(failed, passed)


def _ln_beta(a: int, b: int) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
