"""Runs sets of faults as trials, several at once, and keeps what came of each.

What is decided here depends on outcomes in the order in which they were asked for, and never on who made
them, or which came first: a search is the same with one worker and with many.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.explore.derive import derived, derived_id
from faultwire.explore.made import Ask
from faultwire.explore.search import OutOfBudget
from faultwire.explore.space import key_of
from faultwire.trials.model import Spent, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.explore.journal import Journal
    from faultwire.explore.made import Made
    from faultwire.explore.players import Player
    from faultwire.explore.space import Faults, Observation, Point
    from faultwire.profile.model import Profile
    from faultwire.trials.model import Pin
    from faultwire.trials.series import Budget, Limit

AHEAD = 64
"""Runs that are set aside at once, and may be begun before they are looked at."""


@dataclass
class Executor:
    """The runs of one search."""

    profile: Profile
    seed: int
    budget: Budget
    journal: Journal
    player: Player
    runs: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Answers of models whose cost is not known."""
    tokens: int = 0
    uncounted: int = 0
    """Answers of models whose tokens are not known."""
    started_s: float = 0.0
    """What the runs of this start took."""
    limit: Limit | None = None
    """What of the budget keeps it from another run."""
    _dearest: float = 0.0
    _longest: int = 0
    """Dollars and tokens of the run that took most."""
    _counts: dict[Point, int] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    _repeats: Counter[str] = field(default_factory=Counter)
    _ahead: list[deque[Ask]] = field(default_factory=list)
    """What is set aside by each `run_many` that is not over, the outermost first."""

    @property
    def spent(self) -> Spent:
        """What the models of all runs would have cost."""
        return Spent(self.cost_usd, self.unpriced)

    def count(self, point: Point) -> int:
        """At which of the calls that its entry matches a point stands; 0 where it was never seen."""
        return self._counts.get(point, 0)

    def over(self) -> Limit | None:
        """The limit that keeps it from another run."""
        tokens = Tokens(self.tokens, self.uncounted)
        return self.budget.spent(self.runs, self.started_s, self.cost_usd, self.unpriced, tokens)

    def run_many(self, sets: Sequence[Faults]) -> Iterator[Observation]:
        """The outcome of each set, in order. Raises OutOfBudget once no further run may begin."""
        todo = deque(self._asked(one) for one in sets)
        aside: deque[Ask] = deque()
        self._ahead.append(aside)
        try:
            while todo or aside:
                self.limit = self.over()
                if self.limit is None and not aside:
                    aside.extend(todo.popleft() for _ in range(self._affordable(len(todo))))
                if not aside or self.limit is not None:
                    raise OutOfBudget
                yield self._looked_at(self._made(aside.popleft()))
        finally:
            self._ahead = [one for one in self._ahead if one is not aside]

    def _affordable(self, wanted: int) -> int:
        """How many runs may be set aside: of what is left, after those that are, half for what their outcomes
        will ask for (a failure is confirmed before the next run is looked at). Else one, where that is left.
        Names the limit where there is nothing left."""
        aside = sum(map(len, self._ahead))
        budget = self.budget
        left: list[tuple[float, Limit]] = [(budget.runs - self.runs, "runs")]
        if budget.cost_usd is not None and self._dearest:
            left.append(((budget.cost_usd - self.cost_usd) / self._dearest, "cost"))
        if budget.tokens is not None and self._longest:
            left.append(((budget.tokens - self.tokens) / self._longest, "tokens"))
        least, limit = min(left)
        most = int(least) - aside
        if most < 1 and aside:
            self.limit = limit
            return 0
        if not self.runs:
            return 1  # what a run takes is not known yet
        return min(wanted, AHEAD, max(1, most // 2))

    def _asked(self, faults: Faults) -> Ask:
        """A set as a run: the same set again is another one. Bytes are followed in the first calm run."""
        key = key_of(faults)
        self._repeats[key] += 1
        number = self._repeats[key]
        profile, pins = self.pinned(faults)
        ids = {point: derived_id(point.entry, point.call.place, self._places) for point in faults}
        whole = sha256_hex(f"{number}\n{key}".encode())
        return Ask(whole, faults, profile, pins, self.seed, ids, lineage=not faults and number == 1)

    def pinned(self, faults: Faults) -> tuple[Profile, frozenset[Pin]]:
        """The profile and the decisions of it with which a set of faults is run."""
        return derived(self.profile, faults, self._counts, self._places)

    def _made(self, ask: Ask) -> Made:
        kept = self.journal.earlier.get(ask.key)
        if kept is not None:
            return kept
        waiting = (one for aside in reversed(self._ahead) for one in aside)
        ahead = [one for one in waiting if one.key not in self.journal.earlier]
        made = self.player.play(ask, ahead, lambda one, found: self.journal.append(one.key, found))
        self.started_s += made.run.seconds
        return made

    def _looked_at(self, made: Made) -> Observation:
        run = made.run
        if not self.runs:
            self.budget.must_hold("explore", run.unpriced, run.tokens.uncounted)
        self.runs += 1
        self.seconds += run.seconds
        self.take(run.cost_usd, run.unpriced, run.tokens)
        for point, count in made.counts.items():
            self._counts.setdefault(point, count)
            self._places.setdefault(point.call.place, len(self._places) + 1)
        return run

    def take(self, cost_usd: float, unpriced: int, tokens: Tokens) -> None:
        """Count what the models of a run took."""
        self.cost_usd += cost_usd
        self.unpriced += unpriced
        self.tokens += tokens.count
        self.uncounted += tokens.uncounted
        self._dearest = max(self._dearest, cost_usd)
        self._longest = max(self._longest, tokens.count)
