"""The experiments of an audit: which source of chance, held fixed, makes the difference go away?

Pure: `play` runs the agent under a condition. The condition that the values look like comes first; one in
which the runs agree as often as it takes to rule out luck is the cause. What no condition explains is the
program's own chance; where a condition could not be tried, the cause is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log
from typing import TYPE_CHECKING, Literal

from faultwire.audit.compare_runs import Difference, Run, any_parallel, difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.replay.cause import Cause

Class = Literal["clock", "random", "order", "model", "code", "environment", "fault", "unknown"]
Condition = Literal[
    "plain", "frozen clock", "fixed hashes", "fixed order", "replayed answers", "fresh folder"
]
Word = Literal["agree", "differ", "untried"]

EXPLAINS: dict[Condition, Class] = {
    "frozen clock": "clock",
    "fixed hashes": "random",
    "fixed order": "order",
    "fresh folder": "environment",
}
_FIRST: dict[Cause, Condition] = {
    "clock": "frozen clock",
    "order": "fixed order",
    "random value": "fixed hashes",
}
LUCK = 0.05
"""How likely runs may agree by luck where nothing was fixed."""
PLAIN = 5
"""Runs in which a difference must show for the first time."""
SEEN = 2
"""Pairs of plain runs that are compared once it has shown: they tell how often it does."""
MOST = 8
"""Pairs of runs under one condition."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A condition, how many runs were made under it, and what came of it."""

    condition: Condition
    runs: int
    word: Word
    why: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why two runs differ. `cause` is None where they do not; `runs` counts all."""

    cause: Class | None
    first: Difference | None = None
    tried: tuple[Tried, ...] = ()
    runs: int = 0
    rate: float = 0.0
    """How often two runs differ, of those that were made with nothing fixed."""
    source: int = 0
    """Of answers: the exchange that was answered otherwise."""
    behind: Difference | None = None
    """Another difference, which shows once the first one is held fixed."""
    missing: tuple[str, ...] = ()
    """What would have to be known where the cause is unknown."""


@dataclass
class Audit:
    """One audit. `play` gives None where a run under a condition cannot be had; `unavailable` says why."""

    play: Callable[[Condition, Run | None], Run | None]
    masks: Sequence[str] = ()
    unavailable: Callable[[Condition], str] = lambda _condition: "it is not to be had here"
    earlier: Run | None = None
    """A run of before, which the ones of now are held against."""
    same_program: bool | None = None
    """Is the program that of `earlier`? None: nobody knows."""
    runs: int = 0
    _plain: list[Run] = field(default_factory=list)
    _tried: list[Tried] = field(default_factory=list)
    _differences: int = 0
    _pairs: int = 0

    def run(self) -> Finding:
        """Find the cause."""
        first = self._reproduce()
        if first is None:
            return self._against_earlier() if self.earlier is not None else self._finding(None, None)
        if first.what == "answer":
            return self._answers(first, first.call, first.kind)
        if first.what == "order" and first.parallel:
            return self._finding("order", first)
        brought = self._brought(first)
        if brought is not None:
            return self._answers(first, *brought)
        return self._conditions(first)

    # ------------------------------------------------------------ plain runs

    def _reproduce(self) -> Difference | None:
        found: Difference | None = None
        while self.runs < PLAIN or (found is not None and self._pairs < SEEN):
            run = self._run("plain", None)
            if run is None:
                break
            self._plain.append(run)
            if len(self._plain) > 1:
                self._pairs += 1
                other = difference(self._plain[-2], run, self.masks)
                self._differences += other is not None
                found = _earlier(found, other)
                if found is not None and self._pairs >= SEEN:
                    break
        return found

    @property
    def _rate(self) -> float:
        return (self._differences + 1) / (self._pairs + 2)

    def _run(self, condition: Condition, tape: Run | None) -> Run | None:
        made = self.play(condition, tape)
        self.runs += made is not None
        return made

    # ------------------------------------------------------------ conditions

    def _conditions(self, first: Difference) -> Finding:
        """One condition after the other, until one explains it."""
        order = dict.fromkeys([*([_FIRST[first.shape]] if first.shape in _FIRST else []), *EXPLAINS])
        for condition in order:
            tried, behind = self._try(condition, first)
            self._tried.append(tried)
            if tried.word == "agree":
                # What one run leaves behind may have become what every run finds: then all agree by now.
                cause = EXPLAINS[condition] if self._still_differs() else "environment"
                return self._finding(cause, first, behind=behind)
        if self._counts_up():
            return self._finding("environment", first)
        lacking = tuple(f"{one.condition}: {one.why}" for one in self._tried if one.word == "untried")
        if lacking and first.shape != "random value":
            return self._finding("unknown", first, missing=lacking)
        return self._finding("random", first, missing=lacking)

    def _try(self, condition: Condition, first: Difference) -> tuple[Tried, Difference | None]:
        if condition == "fixed order" and not any(map(any_parallel, self._plain)):
            return Tried(condition, 0, "differ", "the agent never waits for two answers at once"), None
        return self._repeat(condition, first, None)

    def _repeat(
        self, condition: Condition, first: Difference, tape: Run | None
    ) -> tuple[Tried, Difference | None]:
        """Run under a condition until luck is ruled out, or it differs."""
        base = self._run(condition, tape)
        if base is None:
            return Tried(condition, 0, "untried", self.unavailable(condition)), None
        if len(base.exchanges) < min(first.same + 1, *(len(run.exchanges) for run in self._plain)):
            return Tried(condition, 1, "untried", "the agent did not come as far under it"), None
        behind: Difference | None = None
        for at in range(1, self._enough + 1):
            other = self._run(condition, tape)
            found = None if other is None else difference(base, other, self.masks)
            if found is not None and found.what == "order" and condition == "fixed order":
                found = None  # which leaves first is free; what comes of it is not
            if found is not None and found.same <= first.same:
                return Tried(condition, at + 1, "differ"), None
            behind = behind or found
        return Tried(condition, self._enough + 1, "agree"), behind

    def _still_differs(self) -> bool:
        """Do runs with nothing fixed differ as before? Tried as often as it takes to rule out luck."""
        before = self._run("plain", None)
        for _ in range(self._enough):
            other = self._run("plain", None)
            if before is None or other is None or difference(before, other, self.masks) is not None:
                return True
            before = other
        return False

    @property
    def _enough(self) -> int:
        """Pairs of runs that agree by luck hardly ever, as often as runs differ."""
        return min(MOST, max(1, ceil(log(LUCK) / log(1 - self._rate))))

    def _counts_up(self) -> bool:
        """Does the value grow by the same step from run to run? Something outside keeps count."""
        values = []
        for one, other in zip(self._plain, self._plain[1:], strict=False):
            found = difference(one, other, self.masks)
            if found is None:
                return False
            values.append(found.values)
        if len(values) < 2:
            return False
        try:
            steps = {_number(new) - _number(old) for old, new in values}
        except ValueError:
            return False
        return len(steps) == 1 and 0 < abs(next(iter(steps))) <= 1000

    # ------------------------------------------------------------ answers

    def _brought(self, first: Difference) -> tuple[int, str] | None:
        """The exchange that brought the value which differs in a request: its bytes stand in the answers."""
        old, new = (value.strip(" …") for value in first.values)
        words = _changed(old, new)
        if first.what != "request" or words is None:
            return None
        one, other = self._pair(first)
        for before, after in zip(one.exchanges[: first.same], other.exchanges[: first.same], strict=False):
            bodies = [e.upstream.body if e.upstream is not None else b"" for e in (before, after)]
            if words[0].encode() in bodies[0] and words[1].encode() in bodies[1] and bodies[0] != bodies[1]:
                return after.number, after.kind
        return None

    def _pair(self, first: Difference) -> tuple[Run, Run]:
        """The two plain runs that differ so."""
        pairs = list(zip(self._plain, self._plain[1:], strict=False))
        return next((pair for pair in pairs if difference(*pair, self.masks) == first), pairs[-1])

    def _answers(self, first: Difference, source: int, kind: str) -> Finding:
        """An answer differs: with the answers of one run in all, nothing before the first difference may."""
        tried, behind = self._repeat("replayed answers", first, self._plain[0])
        self._tried.append(tried)
        cause: Class = "model" if kind == "llm" else "environment"
        if tried.word == "differ" and first.what != "answer":
            return self._conditions(first)
        return self._finding(cause, first, behind=behind, source=source)

    # ------------------------------------------------------------ before and now

    def _against_earlier(self) -> Finding:
        """The runs of now agree: what has changed since the earlier one?"""
        assert self.earlier is not None
        first = difference(self.earlier, self._plain[-1], self.masks)
        if first is None:
            return self._finding(None, None)
        if first.what == "answer":
            return self._finding("model" if first.kind == "llm" else "environment", first, source=first.call)
        if self.same_program is None:
            return self._finding("unknown", first, missing=("a hash of the program as it was then",))
        return self._finding("environment" if self.same_program else "code", first)

    def _finding(
        self,
        cause: Class | None,
        first: Difference | None,
        *,
        behind: Difference | None = None,
        source: int = 0,
        missing: tuple[str, ...] = (),
    ) -> Finding:
        if first is not None and first.what == "faults":
            cause = "fault"
        rate = self._differences / self._pairs if self._pairs else 0.0
        return Finding(cause, first, tuple(self._tried), self.runs, rate, source, behind, missing)


def _earlier(one: Difference | None, other: Difference | None) -> Difference | None:
    """The one that shows first."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda found: found.same)


def _changed(old: str, new: str) -> tuple[str, str] | None:
    """The word that differs, of two excerpts; None where several do, or it is too short to be looked for."""
    one, other = old.split(), new.split()
    if len(one) != len(other):
        return None
    words = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    if len(words) != 1 or min(map(len, words[0])) < 5:
        return None
    return words[0][0].strip("\"',.;:()[]{}"), words[0][1].strip("\"',.;:()[]{}")


def _number(text: str) -> int:
    digits = [word for word in "".join(c if c.isdigit() else " " for c in text).split() if len(word) < 10]
    if len(digits) != 1:
        raise ValueError
    return int(digits[0])
