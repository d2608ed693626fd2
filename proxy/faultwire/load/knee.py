"""Where more concurrency stops to bring more throughput.

Pure. Throughput of a closed loop is bounded by `N/R` (every invocation takes as long as alone) and by the
capacity of what is shared; both bounds meet at the knee (Denning and Buzen, The Operational Analysis of
Queueing Network Models, 1978, section 6). The two lines are fitted to all levels by least squares of relative
error; the interval is of 95 % by resampling the invocations of each level (Efron 1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.dice import unit
from faultwire.load.measure import quantile, throughput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.load.measure import Level

METHOD = "two asymptotic bounds of operational analysis, fitted; 95 % interval by resampling invocations"
SAMPLES = 400
FEWEST = 3
"""Levels without which nothing bends."""
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the bounds meet, in invocations at once, with its interval; all None where none is seen. `reason`
    says why there is none, `slope` and `capacity` are the two bounds (a second each)."""

    at: float | None
    low: float | None
    high: float | None
    slope: float | None = None
    capacity: float | None = None
    reason: str = ""


def knee(levels: Sequence[Level], seed: int) -> Knee:
    """The knee of a ramp. It is seen only where the whole interval lies below the highest level."""
    found = [one for one in levels if one.invocations]
    if len(found) < FEWEST:
        return Knee(None, None, None, reason=f"{len(found)} of at least {FEWEST} levels were measured")
    seconds = [[each.seconds for each in one.invocations] for one in found]
    numbers = [one.level for one in found]
    top = numbers[-1]
    slope, capacity = fitted(numbers, [throughput(n, each) for n, each in zip(numbers, seconds, strict=True)])
    places = []
    for sample in range(SAMPLES):
        drawn = [_drawn(each, seed, f"{sample} {at}") for at, each in enumerate(seconds)]
        a, c = fitted(numbers, [throughput(n, each) for n, each in zip(numbers, drawn, strict=True)])
        places.append(c / a)
    low, high = quantile(places, TAIL), quantile(places, 1 - TAIL)
    if high >= top:
        return Knee(None, None, None, slope, None, f"no knee seen up to {top}")
    return Knee(min(max(capacity / slope, low), high), low, high, slope, capacity)


def fitted(numbers: Sequence[int], through: Sequence[float]) -> tuple[float, float]:
    """Slope and capacity of `min(slope * n, capacity)` with the least squares of relative error. Where no
    level is on the second bound, the capacity is that of the highest level on the first one."""
    best: tuple[float, float, float] | None = None
    for split in range(1, len(numbers) + 1):
        slope = _relative([(n, x) for n, x in zip(numbers[:split], through[:split], strict=True)])
        flat = through[split:]
        capacity = _relative([(1, x) for x in flat]) if flat else slope * numbers[-1]
        if flat and not slope * numbers[split - 1] <= capacity <= slope * numbers[split]:
            capacity = min(max(capacity, slope * numbers[split - 1]), slope * numbers[split])
        error = sum((min(slope * n, capacity) / x - 1) ** 2 for n, x in zip(numbers, through, strict=True))
        if best is None or error < best[0] - 1e-12:
            best = (error, slope, capacity)
    assert best is not None
    return best[1], best[2]


def _relative(points: Sequence[tuple[float, float]]) -> float:
    """The factor k with the least squares of `k * n / x - 1`."""
    ratios = [n / x for n, x in points]
    return sum(ratios) / sum(one * one for one in ratios)


def _drawn(values: Sequence[float], seed: int, purpose: str) -> list[float]:
    """As many of them, drawn with replacement."""
    return [
        values[int(unit(seed, "load", "knee", purpose, at, "resample") * len(values))]
        for at in range(len(values))
    ]
