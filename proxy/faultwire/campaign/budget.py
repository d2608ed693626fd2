"""What a campaign may take over all workers: so many invocations and tokens, so much money and time. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from faultwire.trials.series import PRICES, USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Limit = Literal["runs", "time", "cost", "price", "tokens", "usage"]
FIRST = 1
"""Cells that are given out at once under a limit of cost or tokens before it is known what one takes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no limit. `cost_usd` is what models may cost by the table of prices, `tokens` what they may count
    as input and output together."""

    runs: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None

    @property
    def conditions(self) -> tuple[str, ...]:
        """What these limits depend on, for the start of a run."""
        found: list[str] = []
        if self.cost_usd is not None:
            found.append(
                f"`--max-cost {self.cost_usd:g}` cannot hold for models without a known price: the first "
                f"answer of one ends the run; {PRICES}"
            )
        if self.tokens is not None:
            found.append(
                f"`--max-tokens {self.tokens}` cannot hold for answers without usage: the first one ends the "
                f"run; {USAGE}"
            )
        return tuple(found)


@dataclass
class Amount:
    """What was taken of one thing that is limited: in all, and by the cell that took most."""

    taken: float = 0.0
    largest: float = 0.0
    unknown: int = 0
    """Answers of which nobody knows what they took."""

    def add(self, taken: float, unknown: int) -> None:
        """Count a result."""
        self.taken += taken
        self.largest = max(self.largest, taken)
        self.unknown += unknown

    def allowed(self, limit: float, played: int, under_way: int) -> int:
        """How many more cells may be given out. Each that is under way counts at the largest so far; and no
        more are under way than were played, since the first ones may be the small ones. What is left for
        less than that goes to one alone that is no larger than the mean."""
        left = limit - self.taken
        if self.unknown or left <= 0:
            return 0
        most = max(FIRST, played)
        if self.largest:
            most = min(most, int(left / self.largest))
        if most < 1 and not under_way and left >= self.taken / played:
            return 1
        return most - under_way


@dataclass
class Spending:
    """What was taken so far, over all starts: so many results of cells, what these cost, and how many answers
    have no known price or no usage. One of these ends a campaign with that limit, which could not hold."""

    limits: Limits
    played: int = 0
    cost: Amount = field(default_factory=Amount)
    tokens: Amount = field(default_factory=Amount)

    @classmethod
    def after(cls, limits: Limits, earlier: Iterable[Mapping[str, Any]]) -> Spending:
        """With the results of earlier starts."""
        made = cls(limits)
        for about in earlier:
            made.add(about)
        return made

    @property
    def cost_usd(self) -> float:
        """What models cost, as far as prices are known."""
        return self.cost.taken

    @property
    def unpriced(self) -> int:
        """Answers of models without a known price."""
        return self.cost.unknown

    def add(self, about: Mapping[str, Any]) -> None:
        """Count a result as its worker sends it; one that is not the first of its cell counts as well: it was
        paid for. One without a word on tokens is of a start that did not count them."""
        self.played += 1
        self.cost.add(float(about["cost_usd"]), int(about.get("unpriced", 0)))
        self.tokens.add(float(about.get("tokens", 0)), int(about.get("uncounted", 1)))

    def _limited(self) -> list[tuple[float, Amount]]:
        pairs = ((self.limits.cost_usd, self.cost), (self.limits.tokens, self.tokens))
        return [(limit, amount) for limit, amount in pairs if limit is not None]

    def allowed(self, wanted: int, under_way: int) -> int:
        """How many of `wanted` cells may be given out while so many others are under way."""
        most = wanted
        if self.limits.runs is not None:
            most = min(most, self.limits.runs - self.played - under_way)
        for limit, amount in self._limited():
            most = min(most, amount.allowed(limit, self.played, under_way))
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
        if limits.cost_usd is not None and not self.cost.allowed(limits.cost_usd, self.played, 0):
            return "price" if self.cost.unknown else "cost"
        return "usage" if self.tokens.unknown else "tokens"

    def words(self, limit: Limit) -> str:
        """A limit as the option that it is."""
        if limit == "runs":
            return f"`--max-runs {self.limits.runs}`"
        if limit == "time":
            return f"`--max-time {self.limits.seconds or 0:g}s`"
        cost, tokens = f"`--max-cost {self.limits.cost_usd or 0:g}`", f"`--max-tokens {self.limits.tokens}`"
        if limit == "price":
            return f"an answer without a known price, so that {cost} cannot hold,"
        if limit == "usage":
            return f"an answer without usage, so that {tokens} cannot hold,"
        return cost if limit == "cost" else tokens

    def hint(self, limit: Limit) -> str:
        """What a user may do about a run that a limit ended."""
        if limit == "price":
            return f"without --max-cost the same command goes on; {PRICES}, for a run that begins anew"
        if limit == "usage":
            return f"without --max-tokens the same command goes on; {USAGE}, for a run that begins anew"
        return "the same command with more goes on from there"
