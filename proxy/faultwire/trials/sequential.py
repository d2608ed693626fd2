"""Sequential probability ratio tests of one candidate (Wald 1947, *Sequential Analysis*, 3).

Does a run with these faults fail as often as the whole set does (`rate`), or only as often as a run without
the cause (`noise`)? Each outcome moves the logarithm of the likelihood ratio; it stops at a bound that keeps
both errors below the asked rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
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
