"""A series of trials under a budget: outcomes of an earlier start are taken from the journal, in order."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.trials.journal import Journal, Kept
    from faultwire.trials.model import Outcome


class OutOfBudget(Exception):
    """The next trial would go over the budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a series may take; None: no limit. Time and cost are those of the trials."""

    runs: int = 200
    seconds: float | None = None
    cost_usd: float | None = None

    def spent(self, runs: int, seconds: float, cost_usd: float) -> bool:
        """Is there nothing left for another trial?"""
        late = self.seconds is not None and seconds >= self.seconds
        return runs >= self.runs or late or (self.cost_usd is not None and cost_usd >= self.cost_usd)


@dataclass
class Series:
    """Trials one after the other, with what they took together."""

    journal: Journal
    budget: Budget
    runs: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0
    last: str = ""
    """Why the last failed trial failed, as the oracle states it."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Reasons of trials that proved nothing."""
    _earlier: deque[Kept] = field(init=False)

    def __post_init__(self) -> None:
        """Start with what the journal holds."""
        self._earlier = deque(self.journal.earlier)

    def outcome(self, key: str, attempt: Callable[[], Outcome]) -> Outcome:
        """What came of the trial with this key, which is run unless the journal holds it.

        Raises OutOfBudget, and UsageError where the journal holds other trials."""
        if self._earlier:
            kept = self._earlier.popleft()
            if kept.key != key:
                raise UsageError(
                    f"found `{self.journal.path}`, whose trials are not those of this search",
                    code=f"{self.journal.command}.state",
                    hint="name another file with --state, or remove it",
                )
            found = kept.outcome
        else:
            if self.budget.spent(self.runs, self.seconds, self.cost_usd):
                raise OutOfBudget
            found = attempt()
            self.journal.append(key, found)
        self.runs += 1
        self.seconds += found.seconds
        self.cost_usd += found.cost_usd
        if found.failed is None:
            self.undecided[found.reason] += 1
        elif found.failed:
            self.last = found.reason
        return found
