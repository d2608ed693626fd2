"""Runs sets of faults as trials, several at once, and keeps what came of each."""

from __future__ import annotations

import threading
from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.explore.derive import derived, derived_id
from faultwire.explore.observe import observe
from faultwire.explore.search import OutOfBudget
from faultwire.explore.space import Observation, key_of
from faultwire.trials.model import Spent, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from faultwire.events import History
    from faultwire.explore.journal import Journal
    from faultwire.explore.space import Faults, Point
    from faultwire.profile.model import Profile
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Oracle, Pin
    from faultwire.trials.series import Budget, Limit
    from faultwire.trials.shared import SharedTrials


@dataclass
class Watching:
    """An oracle that also reads what the run did."""

    oracle: Oracle
    read: Callable[[History], None]

    @property
    def description(self) -> str:
        """That of the oracle."""
        return self.oracle.description

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """As the oracle does."""
        self.read(history)
        return self.oracle.judge(history, tape)


@dataclass
class Executor:
    """The runs of one search. `workers` agents run at once; outcomes come in the order asked for."""

    runner: TrialRunner
    seed: int
    budget: Budget
    journal: Journal
    redact: Callable[[str], str]
    workers: int = 1
    trials: SharedTrials | None = None
    """Runs that share an engine; without them each run has one of its own."""
    runs: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Answers of models whose cost is not known."""
    started_s: float = 0.0
    """What the runs of this start took."""
    limit: Limit | None = None
    """What of the budget keeps it from another run."""
    _counts: dict[Point, int] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    _repeats: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def spent(self) -> Spent:
        """What the models of all runs would have cost."""
        return Spent(self.cost_usd, self.unpriced)

    def count(self, point: Point) -> int:
        """At which of the calls that its entry matches a point stands; 0 where it was never seen."""
        return self._counts.get(point, 0)

    def run_many(self, sets: Sequence[Faults]) -> Iterator[Observation]:
        """The outcome of each set, in order. Raises OutOfBudget once no further run may begin."""
        waiting: deque[Future[Observation]] = deque()
        todo = deque(sets)
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while todo or waiting:
                    while todo and len(waiting) < self.workers and not self._spent(len(waiting)):
                        waiting.append(pool.submit(self._one, *self._keyed(todo.popleft())))
                    if not waiting:
                        raise OutOfBudget
                    yield self._counted(waiting.popleft().result())
            finally:
                for future in waiting:
                    future.cancel()

    def _spent(self, begun: int) -> bool:
        self.limit = self.budget.spent(self.runs + begun, self.started_s, self.cost_usd, self.unpriced)
        return self.limit is not None

    def _counted(self, run: Observation) -> Observation:
        if not self.runs:
            self.budget.must_hold("explore", run.unpriced)
        self.runs += 1
        self.seconds += run.seconds
        self.cost_usd += run.cost_usd
        self.unpriced += run.unpriced
        return run

    def _keyed(self, faults: Faults) -> tuple[Faults, str, bool]:
        """A set with its key: the same set again is another run. Bytes are followed in the first calm run."""
        key = key_of(faults)
        self._repeats[key] += 1
        number = self._repeats[key]
        return faults, sha256_hex(f"{number}\n{key}".encode()), not faults and number == 1

    def _one(self, faults: Faults, key: str, lineage: bool) -> Observation:
        kept = self.journal.earlier.get(key)
        if kept is not None:
            run, counts = kept
        else:
            run, counts = self._trial(faults, lineage=lineage)
            self.journal.append(key, run, counts)
        with self._lock:
            self.started_s += run.seconds if kept is None else 0.0
            for point, count in counts.items():
                self._counts.setdefault(point, count)
                self._places.setdefault(point.call.place, len(self._places) + 1)
        return run

    def pinned(self, faults: Faults) -> tuple[Profile, frozenset[Pin]]:
        """The profile and the decisions of it with which a set of faults is run."""
        return derived(self.runner.profile, faults, self._counts, self._places)

    def _trial(self, faults: Faults, *, lineage: bool) -> tuple[Observation, dict[Point, int]]:
        runner, about = self.runner, Observation(None)
        counts: dict[Point, int] = {}
        profile, pins = self.pinned(faults)
        watched = {entry.id for entry in runner.profile.entries}

        def read(history: History) -> None:
            nonlocal about
            seen = observe(history, watched, lineage=lineage)
            counts.update(seen.points)
            agent = history.agent
            printed = f"{agent.exit_code}\n{agent.answer}" if agent is not None else ""
            fired = {
                line.id
                for exchange in history.exchanges
                for line in exchange.faults
                if line.outcome == "fired"
            }
            about = Observation(
                None, "", seen.calls, self._fired(faults, fired, counts), frozenset(counts), seen.edges,
                seen.unread, output=sha256_hex(printed.encode("utf-8", "replace")),
            )  # fmt: skip

        watching = replace(runner, oracle=Watching(runner.oracle, read))
        trial = Trial(pins, self.seed, profile)
        outcome = watching.run(trial) if self.trials is None else self.trials.run(trial, watching)
        reason = self.redact(outcome.reason)
        run = replace(
            about, failed=outcome.failed, reason=reason, seconds=outcome.seconds, cost_usd=outcome.cost_usd,
            unpriced=outcome.unpriced,
        )  # fmt: skip
        return run, counts

    def _fired(self, faults: Faults, ids: set[str], counts: dict[Point, int]) -> Faults:
        """The points of a set whose entry fired and whose call came."""
        return frozenset(
            point
            for point in faults
            if derived_id(point.entry, point.call.place, self._places) in ids and point in counts
        )
