"""The experiments of an audit: which source of chance, held fixed, makes the difference go away?

Pure: `play` runs the agent under a condition. The condition that the values look like comes first; one in
which the runs agree as often as it takes to rule out luck is the cause. What no condition explains is the
program's own chance; where a condition could not be tried, the cause is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, log
from typing import TYPE_CHECKING

from faultwire.audit.compare_runs import Difference, Run, any_parallel, difference
from faultwire.audit.finding import Class, Condition, Finding, Tried, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.replay.cause import Cause

EXPLAINS: dict[Condition, Class] = {
    "frozen clock": "clock",
    "fixed hashes": "random",
    "fixed chance": "random",
    "fixed order": "order",
    "fresh folder": "environment",
}
_FIRST: dict[Cause, Condition] = {
    "clock": "frozen clock",
    "order": "fixed order",
    "random value": "fixed chance",
}
LUCK = 0.015
"""How likely runs may agree by luck where nothing was fixed."""
PLAIN = 5
"""Runs in which a difference must show for the first time."""
SEEN = 2
"""Pairs of plain runs that are compared once it has shown: they tell how often it does."""
MOST = 10
"""Pairs of runs under one condition."""
BACK = 3
"""Times a folder as it was must bring a difference back, with nothing fixed in between."""
ALONE = "no two calls were under way at once, not even with answers that are delayed"
STEPS = 4
"""Equal steps by which a value must grow from run to run, to be that of a counter."""


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
        """Find the cause; Ctrl-C ends it with what is known."""
        try:
            return self._found()
        except KeyboardInterrupt:
            pairs = (difference(*pair, self.masks) for pair in pairwise(self._plain))
            first = next((one for one in pairs if one is not None), None)
            return replace(self._finding("unknown" if first else None, first), interrupted=True)

    def _found(self) -> Finding:
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
            tried, behind, base = self._try(condition, first)
            if tried.word == "agree" and base is not None:
                if not self._still_differs():
                    self._tried.append(tried)
                    return self._settled(first)
                tried = self._again(tried, first, base)
            self._tried.append(tried)
            if tried.word == "agree":
                return self._finding(EXPLAINS[condition], first, behind=behind)
        if self._counts_up():
            return self._finding("environment", first)
        lacking = tuple(f"{one.condition}: {one.why}" for one in self._tried if one.word == "untried")
        return self._finding("unknown", first, missing=lacking)

    def _again(self, tried: Tried, first: Difference, base: Run) -> Tried:
        """Once more under a condition, after runs with nothing fixed differed: what only changes slowly (the
        machine's load) is by now another one than in the condition's first run."""
        other = self._run(tried.condition, None)
        found = None if other is None else self._difference(tried.condition, base, other)
        word: Word = "differ" if found is not None and found.same <= first.same else "agree"
        return Tried(tried.condition, tried.runs + 1, word)

    def _settled(self, first: Difference) -> Finding:
        """Runs agree with nothing fixed by now. Where a folder as it was makes them differ as before, earlier
        runs have left something in it."""
        made, back = 0, True
        while back and made < BACK:
            fresh, plain = self._run("fresh folder", None), self._run("plain", None)
            if fresh is None or plain is None:
                self._tried.append(Tried("fresh folder", 0, "untried", self.unavailable("fresh folder")))
                return replace(self._finding("unknown", first), settled=True)
            made += 1
            found = difference(self._plain[-1], fresh, self.masks)
            still = difference(self._plain[-1], plain, self.masks)
            back = found is not None and found.same <= first.same and still is None
        self._tried.append(Tried("fresh folder", made, "differ" if back else "agree"))
        return replace(self._finding("environment" if back else "unknown", first), settled=True)

    def _try(self, condition: Condition, first: Difference) -> tuple[Tried, Difference | None, Run | None]:
        return self._repeat(condition, first, None)

    def _repeat(
        self, condition: Condition, first: Difference, tape: Run | None
    ) -> tuple[Tried, Difference | None, Run | None]:
        """Run under a condition until luck is ruled out, or it differs; with its first run."""
        base = self._run(condition, tape)
        if base is None:
            return Tried(condition, 0, "untried", self.unavailable(condition)), None, None
        if len(base.exchanges) < min(first.same + 1, *(len(run.exchanges) for run in self._plain)):
            return Tried(condition, 1, "untried", "the agent did not come as far under it"), None, base
        if condition == "fixed order" and not any(map(any_parallel, [*self._plain, base])):
            # Quick answers overlap in no run, however many the agent waits for; delayed ones would.
            return Tried(condition, 1, "differ", ALONE), None, base
        behind: Difference | None = None
        for at in range(1, self._enough + 1):
            other = self._run(condition, tape)
            found = None if other is None else self._difference(condition, base, other)
            if found is not None and found.same <= first.same:
                return Tried(condition, at + 1, "differ"), None, base
            behind = behind or found
        return Tried(condition, self._enough + 1, "agree"), behind, base

    def _difference(self, condition: Condition, one: Run, other: Run) -> Difference | None:
        """Of two runs under a condition. With answers in a fixed order, which call leaves first is free; what
        comes of it is not."""
        found = difference(one, other, self.masks)
        if found is not None and found.what == "order" and condition == "fixed order":
            return None
        return found

    def _still_differs(self) -> bool:
        """Do runs with nothing fixed differ as before? Tried as often as it takes to rule out luck."""
        for at in range(self._enough + 1):
            other = self._run("plain", None)
            if other is None:
                return True
            before = self._plain[-1]
            self._plain.append(other)
            if at and difference(before, other, self.masks) is not None:
                return True
        return False

    @property
    def _enough(self) -> int:
        """Pairs of runs that agree by luck hardly ever, as often as runs differ."""
        return min(MOST, max(1, ceil(log(LUCK) / log(1 - self._rate))))

    def _counts_up(self) -> bool:
        """Does the value grow by the same step from run to run? Something outside keeps count."""
        if not _even(self._steps(self._plain[: SEEN + 1])):
            return False
        more = [self._run("plain", None) for _ in range(STEPS + 1)]  # in a row: other runs count, too
        return _even(self._steps([run for run in more if run is not None]), STEPS)

    def _steps(self, runs: Sequence[Run]) -> list[int]:
        """By how much the number that differs grew, from run to run; empty where it is none."""
        steps = []
        for one, other in pairwise(runs):
            found = difference(one, other, self.masks)
            try:
                steps.append(0 if found is None else _number(found.values[1]) - _number(found.values[0]))
            except ValueError:
                return []
        return steps

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
        tried, behind, _ = self._repeat("replayed answers", first, self._plain[0])
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
        code = self._plain[-1].code if self._plain else 0
        return Finding(cause, first, tuple(self._tried), self.runs, rate, source, behind, missing, code)


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


def _even(steps: Sequence[int], fewest: int = SEEN) -> bool:
    return len(steps) >= fewest and len(set(steps)) == 1 and 0 < abs(steps[0]) <= 1000


def _number(text: str) -> int:
    digits = [word for word in "".join(c if c.isdigit() else " " for c in text).split() if len(word) < 10]
    if len(digits) != 1:
        raise ValueError
    return int(digits[0])
