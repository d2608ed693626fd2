"""Scores and their uncertainty: the typed face of the core's formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

CONFIDENCE = 0.95
WEIGHTS: dict[str, int] = {"critical": 3, "high": 3, "medium": 2, "low": 1}
"""What a failed cell takes from its invocation, in thirds. For people; the core holds the ones that count."""


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
class ScenarioScore:
    """The score of one scenario, 0 to 100 and None where nothing was judged, and its cells."""

    name: str
    value: float | None
    judged: int
    asked: int


@dataclass(frozen=True, slots=True)
class Score:
    """The number made from a matrix.

    `value` is half the mean over the scenarios and half the worst scenario, 0 to 100; None where no more
    than half of the cells have a verdict. `clean` counts invocations without a failed cell, among those
    with a verdict: cells of one invocation share its traffic, so only invocations are independent enough to
    carry an interval.
    """

    value: float | None
    passed: int
    failed: int
    unknown: int
    critical_failed: int
    clean: Rate
    unjudged: int = 0
    """Critical invariants without a single verdict."""
    scenarios: tuple[ScenarioScore, ...] = ()

    @property
    def gate(self) -> Literal["pass", "fail", "unknown"]:
        """The verdict where every cell must pass: any failed cell fails it. Without one evaluated cell, with
        any unknown one, and with a critical invariant that was never judged, it is unknown unless something
        failed."""
        if self.failed:
            return "fail"
        return "unknown" if self.unknown or self.unjudged or not self.passed else "pass"


def resilience(
    cells: Iterable[tuple[str, str, str, str]],
) -> tuple[float | None, tuple[ScenarioScore, ...]]:
    """The score of `(scenario, invocation, severity, verdict)` cells, and that of each scenario.

    Raises ValueError for a severity or verdict that there is not.
    """
    value, scenarios = _core.resilience_score(list(cells))
    return value, tuple(ScenarioScore(*row) for row in scenarios)


def rate(passed: int, total: int, confidence: float = CONFIDENCE) -> Rate:
    """A pass rate with its Jeffreys interval."""
    low, high = _core.jeffreys_interval(passed, total, confidence)
    return Rate(passed, total, low, high, confidence)
