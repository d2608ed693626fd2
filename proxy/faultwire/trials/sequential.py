"""Sequential probability ratio tests of one candidate (Wald 1947, *Sequential Analysis*, 3).

Does a run with these faults fail as often as the whole set does (`rate`), or only as often as a run without
the cause (`noise`)? Each outcome moves the logarithm of the likelihood ratio; it stops at a bound that keeps
both errors below the asked rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, lgamma, log
from typing import Literal

Decided = Literal["fails", "passes", "open"]


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The test of one candidate. `alpha` bounds how often a harmless one is said to fail, `beta` how often
    one that fails is said to pass. Raises ValueError for rates out of order."""

    rate: float
    noise: float = 0.01
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.noise < self.rate < 1:
            raise ValueError(
                f"found noise {self.noise:g} and rate {self.rate:g}, expected 0 < noise < rate < 1"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("found an error rate outside 0 and 0.5")

    def evidence(self, failed: int, passed: int) -> float:
        """The logarithm of the likelihood ratio: positive speaks for a candidate that fails."""
        return failed * log(self.rate / self.noise) + passed * log((1 - self.rate) / (1 - self.noise))

    def decide(self, failed: int, passed: int) -> Decided:
        """What so many failed and passed runs say."""
        evidence = self.evidence(failed, passed)
        if evidence >= log((1 - self.beta) / self.alpha):
            return "fails"
        return "passes" if evidence <= log(self.beta / (1 - self.alpha)) else "open"

    @property
    def passes_needed(self) -> int:
        """Passed runs in a row after which a candidate is decided to pass."""
        return ceil(log(self.beta / (1 - self.alpha)) / log((1 - self.rate) / (1 - self.noise)))

    @property
    def fails_needed(self) -> int:
        """Failed runs in a row after which a candidate is decided to fail."""
        return ceil(log((1 - self.beta) / self.alpha) / log(self.rate / self.noise))


@dataclass(frozen=True, slots=True)
class MixtureTest:
    """The same test where the rate of the failure is not known.

    `failed` and `passed` count runs that hold the cause; the rate has the posterior of a uniform prior over
    them and is integrated out of the likelihood ratio (mixture test: Robbins 1970, Ann. Math. Statist. 41).
    """

    failed: int
    passed: int
    noise: float = 0.01

    def evidence(self, failed: int, passed: int) -> float:
        """The logarithm of the likelihood ratio: positive speaks for a candidate that fails."""
        with_cause = _ln_beta(self.failed + failed, self.passed + passed) - _ln_beta(self.failed, self.passed)
        return with_cause - failed * log(self.noise) - passed * log(1 - self.noise)

    def decide(self, failed: int, passed: int, alpha: float, beta: float) -> Decided:
        """What so many failed and passed runs of a candidate say; bounds as in `SequentialTest`."""
        evidence = self.evidence(failed, passed)
        if evidence >= log((1 - beta) / alpha):
            return "fails"
        return "passes" if evidence <= log(beta / (1 - alpha)) else "open"

    def passes_needed(self, alpha: float, beta: float) -> int:
        """Passed runs in a row after which a candidate is decided to pass."""
        count = 1
        while self.decide(0, count, alpha, beta) != "passes":
            count += 1
        return count


def _ln_beta(failed: int, passed: int) -> float:
    return lgamma(failed + 1) + lgamma(passed + 1) - lgamma(failed + passed + 2)
