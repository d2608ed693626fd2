"""The search under a budget: cases, what they showed, and the crashes, confirmed and made smaller.

Pure, and the same for the same seed and the same outcomes. Each new crash is repeated at once, and then made
smaller by runs that crash alike. What a crash showed is not learned from: a case that crashes is no parent,
and would hide from the others what they show.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.fuzz.minimise import minimised
from faultwire.fuzz.novelty import Novelty

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.fuzz.case import Case
    from faultwire.fuzz.corpus import Corpus
    from faultwire.fuzz.crash import Crash
    from faultwire.fuzz.grammar import Source

Phase = Literal["search", "confirm", "shrink"]
Ended = Literal["budget", "time", "finds", "exhausted"]
Reached = Literal["agent", "model", "not"]


class Seen(NamedTuple):
    """What a run showed. `reached` says for each part whether the agent got it, only its model did, or none;
    `void` is why nothing can be said, or empty."""

    reached: tuple[Reached, ...] = ()
    features: frozenset[str] = frozenset()
    crash: Crash | None = None
    void: str = ""
    sources: tuple[Source, ...] = ()
    """Calls that no run had made before, which can be targets now."""


class Tried(NamedTuple):
    """A run of the search, in order; `news` are the features that none had shown before."""

    number: int
    phase: Phase
    case: Case
    seen: Seen
    news: int


@dataclass
class Found:
    """A crash: the case that showed it first, the smallest one, how often it came in the search, and its
    repeats."""

    crash: Crash
    case: Case
    smallest: Case
    number: int
    times: int = 1
    repeats: int = 0
    again: int = 0
    shrinking: int = 0

    @property
    def confirmed(self) -> bool:
        """Did the same crash come whenever its case was repeated?"""
        return self.repeats > 0 and self.again == self.repeats


@dataclass(frozen=True, slots=True)
class Result:
    """What the search did and found."""

    tried: tuple[Tried, ...]
    found: tuple[Found, ...]
    ended: Ended


class OutOfRuns(Exception):
    """The next run would be over the budget."""


@dataclass
class Search:
    """One search. `budget` counts all runs, `before` are those that were made already; `late` says that the
    time is over."""

    corpus: Corpus
    play: Callable[[Case, int, Phase], Seen]
    budget: int
    confirm: int = 1
    shrink: int = 20
    finds: int = 20
    before: int = 0
    late: Callable[[], bool] = lambda: False
    novelty: Novelty = field(default_factory=Novelty)
    tried: list[Tried] = field(default_factory=list)
    found: dict[str, Found] = field(default_factory=dict)

    def run(self) -> Result:
        """Search; raises what `play` raises."""
        try:
            ended = self._search()
        except OutOfRuns:
            ended = "time" if self.late() else "budget"
        return Result(tuple(self.tried), tuple(self.found.values()), ended)

    def _search(self) -> Ended:
        while len(self.found) < self.finds:
            following = self.corpus.next(len(self.tried))
            if following is None:
                return "exhausted"
            case, parent = following
            tried = self._play(case, "search")
            crash = tried.seen.crash
            if crash is None:
                self.corpus.learn(case, parent, tried.news)
                self.corpus.extend(tried.seen.sources)
                continue
            self.corpus.crash(case)
            if crash.key in self.found:
                self.found[crash.key].times += 1
            else:
                self._take(crash, case, tried.number)
        return "finds"

    def _take(self, crash: Crash, case: Case, number: int) -> None:
        """Keep a new crash, repeat it, and make its case smaller."""
        found = Found(crash, case, case, number)
        self.found[crash.key] = found
        for _ in range(self.confirm):
            again = self._play(case, "confirm").seen.crash
            found.repeats += 1
            found.again += again is not None and again.key == crash.key
        if not found.confirmed:
            return

        def still(smaller: Case) -> bool | None:
            if found.shrinking >= self.shrink:
                return None
            found.shrinking += 1
            seen = self._play(smaller, "shrink").seen
            crashed = seen.crash is not None and seen.crash.key == crash.key
            if crashed:  # kept at once: the budget may end in the middle
                found.smallest = smaller
            return crashed

        sources = {one.target: one for one in self.corpus.sources}
        minimised(case, sources, self.corpus.seed, still)

    def _play(self, case: Case, phase: Phase) -> Tried:
        if self.before + len(self.tried) >= self.budget or self.late():
            raise OutOfRuns
        number = self.before + len(self.tried) + 1
        seen = self.play(case, number, phase)
        learned = phase == "search" and seen.crash is None and not seen.void
        news = len(self.novelty.new(seen.features)) if learned else 0
        tried = Tried(number, phase, case, seen, news)
        self.tried.append(tried)
        return tried
