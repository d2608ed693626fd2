"""The stages of a search, in order: which decisions, which values, which part of the prompt.

Without a socket or a clock: `attempt` runs a trial, and the time and cost of trials come with their
outcomes. Outcomes from an earlier start are taken from the journal in place of trials, in order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from faultwire.shrink import values
from faultwire.shrink.case import Case
from faultwire.shrink.pieces import pieces
from faultwire.shrink.search import REPEATS, UNTESTABLE, Search
from faultwire.trials.repeats import Repeats
from faultwire.trials.sequential import MixtureTest
from faultwire.trials.series import Budget, Limit, OutOfBudget, Series

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.profile.model import Profile
    from faultwire.trials.journal import Journal
    from faultwire.trials.model import Outcome, Pin

Ended = Literal["found", "budget", "interrupted", "not_reproduced", "no_cause"]
IMPOSSIBLE = "no run"
"""The digest of a case that no profile can hold."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is known at the end, however it came. `case` is the smallest that failed; `rate` is how often it
    fails; `undecided` counts the reasons of trials that proved nothing."""

    ended: Ended
    case: Case
    runs: int
    seconds: float
    cost_usd: float
    rate: float
    untestable: tuple[Pin, ...] = ()
    undecided: Counter[str] = field(default_factory=Counter)
    last: str = ""
    """Why the last failed trial failed, as the oracle states it."""
    counts: tuple[int, int] = (0, 0)
    """Failed and passed trials that held all decisions of the case."""
    calm: tuple[int, int] = (0, 0)
    """Failed and passed trials without any fault."""
    limit: Limit = "runs"
    """What of the budget ended it, where one did."""
    unpriced: int = 0
    """Answers of models whose cost is not known, and not in `cost_usd`."""
    repeated: int = 0
    """Trials that came out the same when they were made again, where all did: others were made once."""


@dataclass
class Shrinking:
    """One search. `progress` is called after each trial with the outcome; it may read everything here."""

    pins: tuple[Pin, ...]
    profile: Profile
    attempt: Callable[[Case], Outcome]
    journal: Journal
    budget: Budget
    error: float = 0.05
    noise: float = 0.01
    seed: int = 0
    prompt: str | None = None
    progress: Callable[[Shrinking, Outcome], None] = lambda _one, _outcome: None
    stage: str = "faults"

    def __post_init__(self) -> None:
        """Start with everything."""
        self.smallest = Case(self.pins, {}, self.prompt)
        self.search = Search(len(self.pins), self.error, self.noise, self.seed)
        self.series = Series(self.journal, self.budget)

    def run(self) -> Result:
        """All stages; Ctrl-C ends it with what is known. Raises UsageError if the state file does not fit."""
        try:
            self._faults()
            if self.search.state != "found":
                return self._result("no_cause" if self.search.state == "no_cause" else "not_reproduced")
            self._values()
            self._prompt()
        except OutOfBudget as out:
            return replace(self._result("budget"), limit=out.limit)
        except KeyboardInterrupt:
            return self._result("interrupted")
        return self._result("found")

    def _result(self, ended: Ended) -> Result:
        kept = tuple(self.pins[at] for at in sorted(self.search.untestable & self.search.smallest))
        made = self.series
        about = (made.runs, made.seconds, made.cost_usd, self.search.rate, kept)
        counts = self.search.counts, self.search.calm_counts
        again = self.search.repeats.equal if self.search.repeats.exact else 0
        return Result(
            ended, self.smallest, *about, made.undecided, made.last, *counts,
            unpriced=made.unpriced, repeated=again,
        )  # fmt: skip

    # ------------------------------------------------------------ stages

    def _faults(self) -> None:
        while (candidate := self.search.candidate()) is not None:
            case = replace(self.smallest, pins=tuple(self.pins[at] for at in sorted(candidate)))
            outcome = self._try(case)
            self.search.record(candidate, outcome.failed, outcome.digest)
            kept = tuple(self.pins[at] for at in sorted(self.search.smallest))
            self.smallest = replace(self.smallest, pins=kept)

    def _values(self) -> None:
        self.stage = "values"
        kept = {pin.entry for pin in self.smallest.pins}
        for entry in self.profile.entries:
            if entry.id not in kept:
                continue
            for name in entry.fault.non_default_settings():
                self._value(entry.id, name)

    def _value(self, entry: str, name: str) -> None:
        settings = self._settings(entry)
        if self._fails(self._with(entry, values.without(settings, name))):
            return
        numbers = None if name in values.NAMES else values.numbers(settings[name])
        items = values.items(settings[name])
        while numbers is not None and (number := numbers.middle()) is not None:
            numbers = numbers.tried(number, failed=self._fails(self._with(entry, settings | {name: number})))
        if items is not None:
            self._pieces(items, lambda value: self._with(entry, settings | {name: value}))

    def _prompt(self) -> None:
        self.stage = "prompt"
        if self.prompt:
            found = pieces(self.prompt)
            made = values.Items(len(found), found.text)
            self._pieces(made, lambda text: replace(self.smallest, prompt=text) if text else None)

    def _pieces(self, items: values.Items, case_of: Callable[[Any], Case | None]) -> None:
        """Leave out what is not needed of a value; every other part of the case stays."""
        repeats = Repeats(0 if self.search.repeats.exact else REPEATS)
        search = Search(items.size, self.error, self.noise, self.seed, calm=False, repeats=repeats)
        while (candidate := search.candidate()) is not None:
            case = case_of(items.value(candidate))
            if case is None or not self._possible(case):
                search.record(candidate, False, IMPOSSIBLE)
            else:
                outcome = self._try(case)
                search.record(candidate, outcome.failed, outcome.digest)
            smaller = case_of(items.value(search.smallest))
            if smaller is not None and len(search.smallest) < items.size and search.state != "not_reproduced":
                self.smallest = smaller

    # ------------------------------------------------------------ trials

    def _settings(self, entry: str) -> dict[str, Any]:
        found = next(one for one in self.profile.entries if one.id == entry)
        return dict(self.smallest.settings.get(entry, found.fault.non_default_settings()))

    def _with(self, entry: str, settings: dict[str, Any]) -> Case:
        return replace(self.smallest, settings={**self.smallest.settings, entry: settings})

    def _possible(self, case: Case) -> bool:
        return case.profile(self.profile) is not None

    def _fails(self, case: Case) -> bool:
        """Does a case fail, too? It is repeated until that is decided, and is the smallest from then on."""
        if not self._possible(case):
            return False
        failed = passed = undecided = 0
        known = self.search.counts
        test = MixtureTest(max(2, known[0]), known[1], self.search.noise)
        while undecided < UNTESTABLE:
            outcome = self._try(case).failed
            failed, passed = failed + (outcome is True), passed + (outcome is False)
            undecided += outcome is None
            decided = test.decide(failed, passed, self.error, self.error)
            if outcome is not None and self.search.repeats.exact:
                decided = "fails" if outcome else "passes"
            if decided == "fails":
                self.smallest = case
            if decided != "open":
                return decided == "fails"
        return False

    def _try(self, case: Case) -> Outcome:
        outcome = self.series.outcome(case.key, lambda: self.attempt(case))
        self.progress(self, outcome)
        return outcome


def fewest_runs(error: float, noise: float) -> int:
    """Runs without which nothing at all is decided: the whole set twice, and the run without faults."""
    return 2 + MixtureTest(2, 0, noise).passes_needed(error, error) + 1
