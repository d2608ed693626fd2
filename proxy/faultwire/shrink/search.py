"""The search for the smallest set of elements with which a run still fails, by trials that may flake.

Delta debugging (Zeller and Hildebrandt 2002, IEEE TSE 28) tries subsets and complements by a fixed plan, and
has to repeat each candidate until it is decided. Here each run counts for all candidates that it says
something about: the next one leaves out the elements that promise the largest expected reduction
(`posterior`). A candidate that fails takes the place of the set. Each element that stays is left out alone
until a sequential test decides that the runs without it pass.

Pure: the caller runs what `candidate` asks for, and hands in what came of it. The same outcomes lead to the
same questions, so that a list of outcomes is all that a search must keep.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from faultwire.dice import unit
from faultwire.shrink.posterior import Posterior, largest_gain
from faultwire.trials.repeats import Repeats
from faultwire.trials.sequential import MixtureTest

if TYPE_CHECKING:
    from collections.abc import Iterator

Candidate = frozenset[int]
State = Literal["searching", "found", "not_reproduced", "no_cause"]
UNTESTABLE = 2
"""Undecided outcomes of a candidate after which it is not tried again."""
QUIET = 0.02
"""With less noise than this, one failure is enough to go on with; the last set is confirmed in any case."""
FEWEST = 2
"""Failures of the whole set before it is reduced: the rate of the failure is not known."""
MARGIN = 4
"""By how much the error of leaving out an element is smaller than asked for: what stays was chosen, and is
what was passed by bad luck more often than other elements."""
REPEATS = 3
"""Equal repeats after which runs are taken to repeat themselves: of the whole set, and without faults."""
SURE = 0.999
"""How often a failure comes that repeats itself."""
LEAST_RATE = 0.25
"""A whole set that fails less often than this is taken not to fail."""


@dataclass(slots=True)
class _Counts:
    """Outcomes of one candidate."""

    failed: int = 0
    passed: int = 0
    undecided: int = 0

    @property
    def runs(self) -> int:
        """Those that were judged."""
        return self.failed + self.passed


@dataclass
class Search:
    """A search among the elements 0 to `size` - 1. `error` bounds, for each decision that the result rests
    on, how often it is wrong; `noise` is how often a run without the cause fails. With `calm`, the empty
    candidate is tried before the search: a failure without any element has no cause among them."""

    size: int
    error: float = 0.05
    noise: float = 0.01
    seed: int = 0
    calm: bool = True
    trials: int = 0
    state: State = "searching"
    smallest: Candidate = field(init=False)
    untestable: set[int] = field(default_factory=set)
    """Elements that are kept because no run without them could be judged."""
    _counts: dict[Candidate, _Counts] = field(default_factory=dict)
    _before: list[Candidate] = field(default_factory=list)
    """The failing sets from which the smallest was made, each from the one before it."""
    _calm_passed: bool = False
    repeats: Repeats = field(default_factory=lambda: Repeats(REPEATS))
    """Whether each run is the same when it is made again: then one of a candidate says it all."""

    def __post_init__(self) -> None:
        """Start with all elements."""
        self.smallest = frozenset(range(self.size))
        self._calm_passed = not self.calm

    # ------------------------------------------------------------ what to try

    def candidate(self) -> Candidate | None:
        """The elements of the next trial; None where the search has ended (`state`)."""
        if self.state != "searching":
            return None
        whole = self.smallest
        if len(self._before) == 0 and self._of(whole).failed < FEWEST:
            return whole
        if not self._calm_passed:
            return frozenset()
        open_one = next((one for one, counts in self._counts.items() if self._is_open(one, counts)), None)
        if open_one is not None:
            # What fails seldom is told from the cause only by who knows how often that fails.
            known = sum(self._with_cause(whole))
            return whole if self._of(open_one).runs > known else open_one
        needed = frozenset(one for one in whole if self._is_needed(one))
        left = whole - needed
        if not left:
            return self._confirm()
        chances = self._posterior(needed).probabilities()
        ordered = sorted(left, key=lambda one: unit(self.seed, "shrink", "order", str(one), self.trials))
        return whole - frozenset(largest_gain([(one, chances[one]) for one in ordered]))

    def _confirm(self) -> Candidate | None:
        """The smallest set once more, until it is decided by runs of its own."""
        own = self._of(self.smallest)
        if self.repeats.exact:
            if own.failed < FEWEST:
                return self.smallest
            self.state = "found"
            return None
        test = self._test(self._before[-1] if self._before else self.smallest, apart_from=self.smallest)
        decided = test.decide(own.failed, own.passed, self.error**2, self.error)
        if decided == "open":
            return self.smallest
        if decided == "fails" or not self._before:
            self.state = "found"
            return None
        self.smallest = self._before.pop()
        return self.candidate()

    def _is_open(self, one: Candidate, counts: _Counts) -> bool:
        """Has this part of the smallest set failed, but not yet often enough to be believed?"""
        return bool(counts.failed) and one < self.smallest and self._decided(one) == "open"

    # ------------------------------------------------------------ what came of it

    def record(self, candidate: Candidate, failed: bool | None, digest: str = "") -> None:
        """Take the outcome of a trial, and what came of it; None where it could not be judged."""
        self.trials += 1
        believed = self.repeats.exact
        self.repeats.add(candidate, failed, digest)
        if believed and not self.repeats.exact and self._before:
            # What single runs decided is open again; the runs themselves still count.
            self.smallest, self._before = self._before[0], []
        counts = self._of(candidate)
        if failed is None:
            counts.undecided += 1
        elif failed:
            counts.failed += 1
        else:
            counts.passed += 1
        if not self._before and candidate == self.smallest:
            self._judge_whole(counts)
        elif not candidate and not self._calm_passed:
            self._judge_calm(counts)
        elif failed and candidate < self.smallest and self._decided(candidate) == "fails":
            self._before.append(self.smallest)
            self.smallest = candidate

    def _judge_whole(self, counts: _Counts) -> None:
        """The set does not fail where it passes more often than any failure worth a search would."""
        runs = counts.runs
        never = self.repeats.exact or (1 - LEAST_RATE) ** runs <= self.error / MARGIN
        if (counts.undecided >= UNTESTABLE and not runs) or (
            counts.failed < FEWEST and never and counts.failed < LEAST_RATE * runs
        ):
            self.state = "not_reproduced"

    def _judge_calm(self, counts: _Counts) -> None:
        decided = self._test().decide(counts.failed, counts.passed, self.error, self.error)
        if decided == "fails":
            self.smallest, self.state = frozenset(), "no_cause"
        elif decided == "passes" or counts.undecided >= UNTESTABLE:
            self._calm_passed = True
            self.noise = max(self.noise, counts.failed / max(1, counts.runs))

    # ------------------------------------------------------------ what the trials say

    @property
    def rate(self) -> float:
        """How often a run with the cause fails: the mean of what is known so far."""
        failed, passed = self._with_cause(self.smallest)
        return (failed + 1) / (failed + passed + 2)

    @property
    def counts(self) -> tuple[int, int]:
        """Failed and passed runs that hold all of the smallest set."""
        return self._with_cause(self.smallest)

    @property
    def calm_counts(self) -> tuple[int, int]:
        """Failed and passed runs without any element."""
        counts = self._of(frozenset())
        return counts.failed, counts.passed

    def needed(self) -> int:
        """How many of the smallest set are known to be needed."""
        return sum(map(self._is_needed, self.smallest))

    def _of(self, candidate: Candidate) -> _Counts:
        return self._counts.setdefault(candidate, _Counts())

    def _test(self, whole: Candidate | None = None, apart_from: Candidate | None = None) -> MixtureTest:
        failed, passed = self._with_cause(self.smallest if whole is None else whole, apart_from)
        return MixtureTest(max(failed, FEWEST), passed, self.noise)

    def _with_cause(self, whole: Candidate, apart_from: Candidate | None = None) -> tuple[int, int]:
        """Failed and passed runs that hold all of a failing set."""
        holding = [counts for one, counts in self._counts.items() if one >= whole and one != apart_from]
        return sum(counts.failed for counts in holding), sum(counts.passed for counts in holding)

    def _decided(self, candidate: Candidate) -> str:
        """By runs of this part of the smallest set, and passes of larger ones that hold no more of it."""
        failed = passed = 0
        for one, counts in self._counts.items():
            failed += counts.failed if one == candidate else 0
            if one & self.smallest == candidate:
                passed += counts.passed
        if self.repeats.exact and failed + passed:
            return "fails" if failed else "passes"
        beta = self.error / (MARGIN * max(2, self.size))
        alpha = self.error if self.noise <= QUIET else self.error / max(2, self.size)
        return self._test().decide(failed, passed, alpha, beta)

    def _is_needed(self, one: int) -> bool:
        """Do runs without this element alone pass, or can they not be judged?"""
        without = self.smallest - {one}
        if self._decided(without) == "passes":
            return True
        if self._of(without).undecided >= UNTESTABLE:
            self.untestable.add(one)
            return True
        return False

    def _posterior(self, needed: frozenset[int]) -> Posterior:
        removed: dict[frozenset[int], int] = {}
        for group, count in self._groups():
            removed[group] = removed.get(group, 0) + count
        rate = SURE if self.repeats.exact else self.rate
        return Posterior(sorted(self.smallest), removed, rate, needed)

    def _groups(self) -> Iterator[tuple[frozenset[int], int]]:
        for one, counts in self._counts.items():
            group = self.smallest - one
            # What cannot be judged is no way to a smaller set either.
            known = not counts.failed or self._decided(one & self.smallest) == "passes"
            if group and (count := counts.passed + counts.undecided) and known:
                yield group, count
