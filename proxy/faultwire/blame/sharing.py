"""How a budget of runs is shared among several failures: which of them is searched next, and with how many.

Each gets the fewest runs that decide anything, the first ones first, and of what is left an equal part. What
a search does not use goes to the others. Pure: the caller searches, and says what that took.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Failure = TypeVar("Failure")


def grouped(failures: Iterable[tuple[Hashable, Failure]]) -> list[list[Failure]]:
    """Failures with the same signature together, in the order in which the signatures come first."""
    found: dict[Hashable, list[Failure]] = {}
    for signature, failure in failures:
        found.setdefault(signature, []).append(failure)
    return list(found.values())


@dataclass
class Sharing:
    """`left` runs for failures, the worst first; `fewest` are those without which nothing is decided of each.
    A search that its share was too small for goes on with what others left over."""

    left: int
    fewest: Sequence[int]
    used: dict[int, int] = field(default_factory=dict)
    """Runs of each failure that was searched."""
    _ended: set[int] = field(default_factory=set)

    def next(self) -> tuple[int, int] | None:
        """The next failure to search, and how many runs it may take from now on; None where no more can be
        decided."""
        chosen = self._affordable()
        if not chosen:
            return None
        spare = self.left - sum(map(self._needs, chosen))
        return chosen[0], self._needs(chosen[0]) + spare // len(chosen)

    def spent(self, failure: int, runs: int, *, ended: bool) -> None:
        """Its search took so many runs; `ended` unless only its share had kept it from going on."""
        self.left -= runs
        self.used[failure] = self.used.get(failure, 0) + runs
        if ended or not runs:
            self._ended.add(failure)

    def _affordable(self) -> list[int]:
        """Those that have not begun, as far as the runs go; after them, those that their share had ended."""
        left, new = self.left, list[int]()
        for at, fewest in enumerate(self.fewest):
            if at not in self._ended and at not in self.used and fewest <= left:
                new.append(at)
                left -= fewest
        return new or [at for at in self.used if at not in self._ended][: self.left]

    def _needs(self, failure: int) -> int:
        return 1 if failure in self.used else self.fewest[failure]
