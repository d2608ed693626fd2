"""Which runs to make to find the parts that made a run fail, and what their outcomes say.

1. *Reference.* The whole (every part as in the failed run) and the calm run, in turns, until their failure
   rates differ, or it is decided that they do not.
2. *Contrasts.* Per part two coalitions: the whole without it (was it necessary?) and it alone (is it
   sufficient?). Each is run until a sequential test decides whether it fails as the whole does or as the calm
   run does, and `least` times in any case, for its interval.
3. *Survivors.* The parts that are blamed: more runs of theirs, and where several are blamed, of all
coalitions
   of them, for Shapley values and interactions (`Walks` of them where they are many).
4. *Curve*, where it was asked for: the first t parts as in the failed run, for every t.

Pure: the caller runs what `candidate` asks for and hands in what came of it. The same outcomes lead to the
same questions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from faultwire._core import boschloo_test
from faultwire.blame.contrast import Contrast, Decided
from faultwire.blame.rates import Coalition, Counts
from faultwire.blame.shapley import Walks, subsets
from faultwire.dice import unit
from faultwire.trials.repeats import Repeats

if TYPE_CHECKING:
    from collections.abc import Iterable

State = Literal["running", "found", "not_reproduced", "no_difference", "undecidable"]
Stage = Literal["reference", "contrasts", "survivors", "curve"]
LOOKS = (4, 6, 10, 16, 24, 32)
"""Runs of each reference after which their difference is looked at."""
GATE = 0.2
"""The share of the error rate that each look at the references takes."""
LEAST_RATE = 0.25
"""A whole that fails less often than this is taken not to fail, as in `shrink`."""
UNTESTABLE = 2
"""Undecided outcomes of a coalition, and no other, after which it is not tried again."""
LENIENT = 0.8
"""The share of the error rate at which a coalition is decided to say nothing against its part."""
LEANING = 4
"""How many times longer than others a coalition is run whose outcomes lean towards a cause."""
REFERENCE = 20
"""Runs of each reference with many parts; all parts are held against them."""
SURVIVORS = 16
"""Runs of the two coalitions of a part that is blamed, with many parts: its interval must not rest on when it
was stopped."""
FEW = 6
"""Runs of these at least. With few parts there are few to share them: they are as many as there are parts."""
ENUMERATED = 4
"""Survivors up to which all of their coalitions are run."""
REPEATS = 6
"""Equal repeats after which runs are taken to repeat themselves: as many as the first look at the references
has."""
CONFIRMED = 3
"""Then runs of the two coalitions of a part that is blamed; other coalitions have one."""


@dataclass
class Design:
    """Interventions on the parts 0 to `size` - 1, in the order in which they happened. `error` bounds how
    often any part is blamed without a cause; `least` and `most` bound the runs of a coalition, `reference`
    those of the whole and of the calm run (0: by the number of parts). Raises ValueError without a part."""

    size: int
    error: float = 0.05
    seed: int = 0
    least: int = 4
    most: int = 8
    reference: int = 0
    curve: bool = False
    trials: int = 0
    state: State = "running"
    stage: Stage = "reference"
    counts: dict[Coalition, Counts] = field(default_factory=dict)
    walks: Walks | None = None
    repeats: Repeats = field(default_factory=lambda: Repeats(REPEATS))
    """Whether each run is the same when it is made again: then one of a coalition says it all."""

    def __post_init__(self) -> None:
        """Start with nothing known."""
        if self.size < 1:
            raise ValueError("found no part, expected at least one")
        self.reference = self.reference or min(REFERENCE, max(FEW, self.size))
        self.survivors = min(SURVIVORS, max(FEW, self.size))
        self.whole: Coalition = frozenset(range(self.size))
        self.calm: Coalition = frozenset()
        self._differ = False
        self._arms = self.arms()

    # ------------------------------------------------------------ what to try

    def candidate(self) -> Coalition | None:
        """The parts of the next run that are as in the failed one; None where the design has ended."""
        if self.state != "running":
            return None
        if not self._differ:
            return self._reference()
        self.stage = "contrasts"
        if open_ones := [one for one in self._arms if self._is_open(one)]:
            return min(open_ones, key=self._turn)
        self.stage = "survivors"
        if (survivors := self._survivors()) is not None:
            return survivors
        self.stage = "curve"
        if self.curve and (short := self._short(self.prefixes(), 1 if self.repeats.exact else self.least)):
            return min(short, key=self._turn)
        self.state = "found"
        return None

    def _turn(self, one: Coalition) -> tuple[int, float]:
        """The one with the fewest runs, by lot among equals: an order in time would favour some."""
        tried = self.of(one).tried
        return tried, unit(self.seed, "blame", "order", ",".join(map(str, sorted(one))), tried)

    def _reference(self) -> Coalition | None:
        for counts in (self.of(self.whole), self.of(self.calm)):
            if counts.undecided >= UNTESTABLE and not counts.runs:
                self.state = "undecidable"
                return None
        return self.whole if self.of(self.whole).runs <= self.of(self.calm).runs else self.calm

    def _is_open(self, one: Coalition) -> bool:
        counts = self.of(one)
        if self._is_untestable(counts):
            return False
        if one in (self.whole, self.calm):
            return counts.tried < (LOOKS[0] if self.repeats.exact else self.reference)
        if self.repeats.exact:
            return not counts.tried
        if counts.runs < self.least:
            return counts.tried < self.most
        if self.decided(one) != "open":
            return False
        # What leans towards a cause is followed on; what leans towards none is left as it is.
        return counts.tried < (LEANING * self.most if self._leans(one) else self.most)

    def _survivors(self) -> Coalition | None:
        blamed = self.blamed()
        singles = [arm(part) for part in blamed for arm in (self.necessity, self.sufficiency)]
        if short := self._short(singles, CONFIRMED if self.repeats.exact else self.survivors):
            return min(short, key=self._turn)
        if len(blamed) < 2:
            return None
        if len(blamed) <= ENUMERATED:
            short = self._short(subsets(blamed), 1 if self.repeats.exact else min(self.most, self.survivors))
            return min(short, key=self._turn) if short else None
        if self.walks is None:
            self.walks = Walks(tuple(blamed), seed=self.seed)
        if (walked := self.walks.candidate()) is not None:
            return walked
        short = self._short(map(frozenset, combinations(blamed[: 2 * ENUMERATED], 2)), self.least)
        return min(short, key=self._turn) if short else None

    def _short(self, coalitions: Iterable[Coalition], runs: int) -> list[Coalition]:
        """Those with fewer runs."""
        return [
            one
            for one in dict.fromkeys(coalitions)
            if self.of(one).tried < runs and not self._is_untestable(self.of(one))
        ]

    # ------------------------------------------------------------ what came of it

    def record(self, candidate: Coalition, failed: bool | None, digest: str = "") -> None:
        """Take the outcome of a run, and what came of it; None where it could not be judged."""
        self.trials += 1
        self.repeats.add(candidate, failed, digest)
        if self.walks is not None and self.walks.candidate() == candidate:
            self.walks.record(failed)
        self.of(candidate).add(failed)
        if not self._differ and candidate == self.calm:
            self._look()

    def _look(self) -> None:
        """Do the references differ?"""
        whole, calm = self.of(self.whole), self.of(self.calm)
        looked = min(whole.runs, calm.runs)
        if looked not in LOOKS:
            return
        if self.repeats.exact and whole.failed == calm.failed:
            self.state = "no_difference" if whole.failed else "not_reproduced"
        elif not whole.failed and (1 - LEAST_RATE) ** whole.runs <= self.error:
            self.state = "not_reproduced"
        elif whole.rate > calm.rate and _p_value(whole, calm) <= self.error * GATE:
            self._differ = True
        elif looked == LOOKS[-1]:
            self.state = "no_difference" if calm.rate >= LEAST_RATE else "not_reproduced"

    # ------------------------------------------------------------ what the runs say

    def of(self, one: Coalition) -> Counts:
        """The outcomes of a coalition."""
        return self.counts.setdefault(one, Counts())

    def necessity(self, part: int) -> Coalition:
        """The coalition that says whether a part was necessary: all but this as in the failed run."""
        return self.whole - {part}

    def sufficiency(self, part: int) -> Coalition:
        """The coalition that says whether it is sufficient: only this as in the failed run."""
        return frozenset({part})

    def arms(self) -> list[Coalition]:
        """Both of every part, and the references; each once."""
        singles = [arm(part) for part in range(self.size) for arm in (self.necessity, self.sufficiency)]
        return list(dict.fromkeys([self.whole, self.calm, *singles]))

    def prefixes(self) -> list[Coalition]:
        """The coalitions of the curve: runs that are forked after t parts."""
        return [frozenset(range(t)) for t in range(self.size + 1)]

    def decided(self, one: Coalition) -> Decided:
        """Does it fail as the whole does, or as the calm run does? All parts share the error rate at which
        one of them is blamed."""
        if one in (self.whole, self.calm):
            return "whole" if one else "calm"
        if self.repeats.exact and self.of(one).runs:
            return "whole" if self.of(one).failed else "calm"
        strict, lenient = self.error / (2 * self.size), self.error * LENIENT
        # Alone: that it fails blames a part. All but one: that it passes does. Of two parts, both do.
        for_whole = strict if len(one) == 1 else lenient
        for_calm = strict if len(one) == self.size - 1 else lenient
        return self._contrast().decide(self.of(one), for_whole, for_calm)

    def is_necessary(self, part: int) -> bool | None:
        """Does the run pass without it? None: that is not decided."""
        return {"calm": True, "whole": False, "open": None}[self.decided(self.necessity(part))]

    def is_sufficient(self, part: int) -> bool | None:
        """Does the run fail with it alone? None: that is not decided."""
        return {"whole": True, "calm": False, "open": None}[self.decided(self.sufficiency(part))]

    def blamed(self) -> list[int]:
        """The parts that are necessary or sufficient."""
        if not self._differ:
            return []
        return [one for one in range(self.size) if self.is_necessary(one) or self.is_sufficient(one)]

    def is_untestable(self, part: int) -> bool:
        """Could no run of one of its two coalitions be judged?"""
        arms = (self.necessity(part), self.sufficiency(part))
        return any(self._is_untestable(self.of(arm)) for arm in arms)

    def parts_decided(self) -> int:
        """How many parts are known to be to blame, or not to be: both of their coalitions are finished."""
        if not self._differ:
            return 0
        pairs = ((self.necessity(part), self.sufficiency(part)) for part in range(self.size))
        return sum(not any(map(self._is_open, pair)) for pair in pairs)

    def runs_left(self) -> int:
        """About how many runs the rest takes if one part is to blame; a planning figure, no promise."""
        if self.state != "running":
            return 0
        if self.repeats.exact:
            return len([one for one in self._arms if self._is_open(one)]) + 2 * (CONFIRMED - 1)
        left = sum(max(0, round(USUAL) - self.of(one).tried) for one in self._arms[2:] if self._is_open(one))
        references = sum(max(0, self.reference - self.of(one).tried) for one in (self.whole, self.calm))
        curve = len(self._short(self.prefixes(), self.least)) * self.least if self.curve else 0
        blamed = self.blamed() or [0]
        singles = {arm(part) for part in blamed for arm in (self.necessity, self.sufficiency)}
        usual = {one: self.reference if one in (self.whole, self.calm) else round(USUAL) for one in singles}
        survivors = sum(max(0, self.survivors - max(self.of(one).tried, usual[one])) for one in singles)
        return max(1, left + references + survivors + curve)

    def _contrast(self) -> Contrast:
        return Contrast(self.of(self.whole), self.of(self.calm))

    def _leans(self, one: Coalition) -> bool:
        evidence = self._contrast().evidence(self.of(one))
        return (len(one) == 1 and evidence > 0) or (len(one) == self.size - 1 and evidence < 0)

    def _is_untestable(self, counts: Counts) -> bool:
        return counts.undecided >= UNTESTABLE and not counts.runs


USUAL = 6.0
"""Runs that a coalition takes in the median."""


def fewest_runs(size: int) -> int:
    """Runs without which no part is decided: the first look at the references, and the arms of one part."""
    return 2 * LOOKS[0] + (2 * Design(size).least if size > 1 else 0)


def exact_runs(size: int, *, curve: bool = False) -> int:
    """How many runs a design takes where each run is the same when it is made again, and one part is to
    blame."""
    arms = Design(size).arms()[2:]
    return 2 * LOOKS[0] + len(arms) + 2 * (CONFIRMED - 1) * (size > 1) + (max(0, size - 3) if curve else 0)


def usual_runs(size: int, *, curve: bool = False) -> int:
    """About how many runs a whole design takes."""
    return Design(size, curve=curve).runs_left()


def _p_value(whole: Counts, calm: Counts) -> float:
    return boschloo_test((whole.failed, whole.runs), (calm.failed, calm.runs))
