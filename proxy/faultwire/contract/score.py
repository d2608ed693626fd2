"""Scores and their uncertainty: the typed face of the core's formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

CONFIDENCE = 0.95
WEIGHTS: dict[str, int] = {"critical": 3, "high": 2, "medium": 1, "low": 1}
"""For people; the core holds the ones that count."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`passed` of `total`, with the Jeffreys interval of the rate behind it (both ends in [0, 1])."""

    passed: int
    total: int
    low: float
    high: float
    confidence: float = CONFIDENCE

    @property
    def value(self) -> float | None:
        """The observed rate, None without any observation."""
        return self.passed / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Score:
    """The number made from a matrix.

    `value` is 100·Σ(passed·w)/Σ(w) over evaluated cells, None where no cell was. `clean` counts
    invocations without a failed cell, among those with a verdict: cells of one invocation share its
    traffic, so only invocations are independent enough to carry an interval.
    """

    value: float | None
    passed: int
    failed: int
    unknown: int
    critical_failed: int
    clean: Rate
    unjudged: int = 0
    """Critical invariants without a single verdict."""

    @property
    def gate(self) -> Literal["pass", "fail", "unknown"]:
        """What the score as a whole says: any failed critical cell fails it, and it passes only
        where everything did. Without one evaluated cell, with any unknown one, and with a critical
        invariant that was never judged, it is unknown unless something failed."""
        if self.failed:
            return "fail"
        return "unknown" if self.unknown or self.unjudged or not self.passed else "pass"


def resilience(cells: Iterable[tuple[str, str]]) -> float | None:
    """The score of `(severity, verdict)` pairs, 0 to 100, two digits; None where none is evaluated."""
    return _core.resilience_score(list(cells))


def rate(passed: int, total: int, confidence: float = CONFIDENCE) -> Rate:
    """A pass rate with its Jeffreys interval."""
    low, high = _core.jeffreys_interval(passed, total, confidence)
    return Rate(passed, total, low, high, confidence)
