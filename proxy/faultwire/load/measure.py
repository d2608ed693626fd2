"""What invocations at each level of concurrency say: throughput, latency, and the error budget.

Pure. A level is a closed loop: as many invocations are under way as it says, each followed by the next.
Then throughput is concurrency over mean latency (Little, A Proof for the Queuing Formula L = λW, 1961), which
needs no clock beside the invocations' own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.contract.statistics import Measured, rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Verdict = Literal["pass", "fail", "unknown", "timeout"]
QUANTILES = (0.5, 0.95, 0.99)
ROUNDING = 1e-9
"""A tenth of twenty is less than two, as floats have it."""


class Invocation(NamedTuple):
    """One start of the agent. `cell` is what it was asked and which faults it met; times are in seconds
    since the run began; `level` is how many were to be under way at once."""

    level: int
    cell: int
    again: int
    session: str
    started: float
    ended: float
    verdict: Verdict
    reason: str = ""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.started


@dataclass(frozen=True, slots=True)
class Budget:
    """The error budget of a level. `allowed` failures of `total`; `burn` is the rate of failures over what is
    allowed, None where nothing is."""

    failed: int
    total: int
    allowed: float
    burn: float | None
    passed: Measured | None

    @property
    def overspent(self) -> bool:
        """Are there more failures than are allowed?"""
        return self.failed > self.allowed + ROUNDING


@dataclass(frozen=True, slots=True)
class Level:
    """What a level of concurrency shows. `whole` is False where time or runs ended before it did."""

    level: int
    planned: int
    invocations: tuple[Invocation, ...]
    throughput: float | None
    quantiles: tuple[float, ...]
    budget: Budget
    timeouts: int
    unknown: int

    @property
    def whole(self) -> bool:
        """Were all invocations made that were planned?"""
        return len(self.invocations) == self.planned


def measured(level: int, planned: int, invocations: Sequence[Invocation], target: float) -> Level:
    """The figures of one level; `target` is the share of invocations that must pass."""
    seconds = [one.seconds for one in invocations]
    return Level(
        level,
        planned,
        tuple(invocations),
        throughput(level, seconds) if seconds else None,
        tuple(quantile(seconds, q) for q in QUANTILES) if seconds else (),
        budget(invocations, target),
        sum(one.verdict == "timeout" for one in invocations),
        sum(one.verdict == "unknown" for one in invocations),
    )


def throughput(level: int, seconds: Sequence[float]) -> float:
    """Invocations a second, of a closed loop."""
    return level * len(seconds) / max(sum(seconds), 1e-9)


def quantile(values: Iterable[float], q: float) -> float:
    """The q-quantile, linear between values (Hyndman and Fan 1996, type 7)."""
    ordered = sorted(values)
    at = (len(ordered) - 1) * q
    low, high = ordered[floor(at)], ordered[ceil(at)]
    return low + (high - low) * (at - floor(at))


def budget(invocations: Sequence[Invocation], target: float) -> Budget:
    """What of the error budget is spent; what could not be judged counts for nothing."""
    judged = [one for one in invocations if one.verdict != "unknown"]
    failed, total = sum(one.verdict != "pass" for one in judged), len(judged)
    allowed = (1 - target) * total
    share = failed / total / (1 - target) if total and target < 1 else None
    return Budget(failed, total, allowed, share, rate(total - failed, total) if total else None)
