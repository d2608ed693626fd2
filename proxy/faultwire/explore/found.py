"""A failure that a search found: confirmed by repetition, and made as small as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.shrink.search import Search
from faultwire.trials.sequential import MixtureTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.explore.space import Faults, Observation, Point

MOST = 12
"""Runs in which a failure must be decided."""


@dataclass(frozen=True, slots=True)
class Find:
    """Faults with which the agent fails; `failed` of `runs` runs with exactly these did, for this reason."""

    faults: Faults
    failed: int
    runs: int
    reason: str

    @property
    def cause(self) -> tuple[str, ...]:
        """What finds of one cause share: the calls that fail, whatever the fault."""
        return tuple(sorted(point.call.text for point in self.faults))


@dataclass(slots=True)
class Confirmer:
    """Repeats and shrinks a failing set. `attempt` runs one set once."""

    attempt: Callable[[Faults], Observation]
    error: float
    noise: float

    def confirm(self, faults: Faults) -> Find | None:
        """Run a set until it is decided that it fails; None where it does not, or cannot be judged."""
        test = MixtureTest(2, 0, self.noise)
        failed = passed = undecided = 0
        reason = ""
        while failed + passed + undecided < MOST and undecided < 2:
            run = self.attempt(faults)
            failed, passed = failed + (run.failed is True), passed + (run.failed is False)
            undecided += run.failed is None
            reason = run.reason if run.failed else reason
            decided = test.decide(failed, passed, self.error, self.error)
            if decided != "open":
                return Find(faults, failed, failed + passed, reason) if decided == "fails" else None
        return None

    def shrink(
        self, faults: Faults, passing: Callable[[Faults], bool], *, steady: bool = False
    ) -> Faults | None:
        """The smallest part of a set that still fails; None where it does not fail again. `passing` says
        which sets are known to pass. An agent that is `steady` is believed at the first run; who asks
        confirms what comes out."""
        points = sorted(faults)
        if len(points) == 1 or (len(points) == 2 and all(passing(frozenset([one])) for one in points)):
            return faults
        if steady:
            halved = self._halved(points, passing)
            if len(halved) < len(points):
                return frozenset(halved)
        search = Search(len(points), self.error, self.noise, calm=False)
        while (candidate := search.candidate()) is not None:
            chosen = frozenset(points[at] for at in candidate)
            known = not chosen or (len(chosen) == 1 and passing(chosen))
            search.record(candidate, False if known else self.attempt(chosen).failed)
        if search.state != "found":
            return None
        return frozenset(points[at] for at in search.smallest)

    def _halved(self, points: list[Point], passing: Callable[[Faults], bool]) -> list[Point]:
        """Each point that is needed, by halving what comes before it: the shortest failing beginning of the
        list ends with one."""
        needed: list[Point] = []
        rest = points
        while rest and not self._fails(needed, passing):
            low, high = 0, len(rest)  # with `low` of the rest it passes, with `high` it fails
            while high - low > 1:
                middle = (low + high) // 2
                if self._fails([*needed, *rest[:middle]], passing):
                    high = middle
                else:
                    low = middle
            needed, rest = [*needed, rest[high - 1]], rest[: high - 1]
        return sorted(needed)

    def _fails(self, points: list[Point], passing: Callable[[Faults], bool]) -> bool:
        chosen = frozenset(points)
        if not chosen or passing(chosen):
            return False
        return self.attempt(chosen).failed is True


def groups(finds: list[Find]) -> dict[tuple[str, ...], list[Any]]:
    """Finds by cause, in the order in which they came."""
    found: dict[tuple[str, ...], list[Any]] = {}
    for one in finds:
        found.setdefault(one.cause, []).append(one)
    return found
