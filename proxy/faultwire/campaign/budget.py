"""What a campaign may take over all workers: so many invocations, so much money, so much time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Limit = Literal["runs", "time", "cost", "price"]
FIRST = 4
"""Cells that are given out at once under a limit of cost before the first price is known."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no limit. `cost_usd` is what models may cost by the table of prices."""

    runs: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None


@dataclass
class Spending:
    """What was taken so far, over all starts: so many results of cells, what these cost, and how many answers
    have no known price. One of these ends a campaign with a limit of cost, which could not hold."""

    limits: Limits
    played: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def add(self, cost_usd: float, unpriced: int = 0) -> None:
        """Count a result; one that is not the first of its cell counts as well: it was paid for."""
        self.played += 1
        self.cost_usd += cost_usd
        self.unpriced += unpriced

    def allowed(self, wanted: int, under_way: int) -> int:
        """How many of `wanted` cells may be given out while so many others are under way. The next ones are
        expected to cost what those before did on average."""
        limits, most = self.limits, wanted
        if limits.runs is not None:
            most = min(most, limits.runs - self.played - under_way)
        if limits.cost_usd is not None:
            if self.unpriced:
                return 0
            if not self.played:
                most = min(most, FIRST - under_way)
            elif self.cost_usd > 0:
                mean = self.cost_usd / self.played
                most = min(most, int((limits.cost_usd - self.cost_usd) / mean) - under_way)
        return max(0, most)

    def spent(self, seconds: float, under_way: int) -> Limit | None:
        """The limit at which nothing more is given out, so many seconds after the start; None while there is
        something left, or where results that are under way will show what is left."""
        limits = self.limits
        if limits.seconds is not None and seconds >= limits.seconds:
            return "time"
        if under_way or self.allowed(1, 0):
            return None
        if limits.runs is not None and self.played >= limits.runs:
            return "runs"
        return "price" if self.unpriced else "cost"

    def words(self, limit: Limit) -> str:
        """A limit as the option that it is."""
        if limit == "runs":
            return f"`--max-runs {self.limits.runs}`"
        if limit == "time":
            return f"`--max-time {self.limits.seconds or 0:g}s`"
        cost = f"`--max-cost {self.limits.cost_usd or 0:g}`"
        return cost if limit == "cost" else f"an answer without a known price, so that {cost} cannot hold,"
