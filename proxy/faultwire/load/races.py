"""Verdicts that differ only where invocations run at once.

Pure. A cell is the same prompt with the same faults. One that never fails alone and fails beside others is
a suspect; it is then run alone again, on runs that did not make it one. That it is no coincidence is tested
over all cells: failures alone against failures beside others (Boschloo). An invocation that was stopped for
its time says that the agent was slow, and nothing of a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.contract.statistics import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.load.measure import Invocation

EVIDENCE = 5
"""Invocations that are named of each cell."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A cell with its evidence: failures beside others, what ran at the same time, and a run alone."""

    cell: int
    alone: tuple[int, int]
    """Passes and runs."""
    beside: tuple[int, int]
    again: tuple[int, int]
    """The same, of runs alone that came after it was suspected."""
    failures: tuple[Invocation, ...]
    overlapping: tuple[tuple[str, ...], ...]
    """For each failure the sessions under way at the same time."""
    reference: str
    """A session of the cell that passed alone."""

    @property
    def holds(self) -> bool:
        """Did it pass whenever it ran alone again?"""
        return self.again[1] > 0 and self.again[0] == self.again[1]


@dataclass(frozen=True, slots=True)
class Races:
    """What differs. `test` compares failures beside others with those alone, None where one has no runs."""

    suspects: tuple[Suspect, ...]
    test: Comparison | None

    @property
    def found(self) -> bool:
        """Is there a cell that fails beside others only, and more than chance?"""
        return (
            any(one.holds for one in self.suspects)
            and self.test is not None
            and self.test.verdict == "significant"
            and (self.test.difference or 0) < 0
        )


def suspected(alone: Sequence[Invocation], beside: Sequence[Invocation]) -> list[int]:
    """The cells that were judged alone and always passed, and failed beside others."""
    fine = {one.cell for one in alone if one.verdict == "pass"}
    fine -= {one.cell for one in alone if one.verdict != "pass"}
    return sorted(fine & {one.cell for one in beside if one.verdict == "fail"})


def races(alone: Sequence[Invocation], beside: Sequence[Invocation], again: Sequence[Invocation]) -> Races:
    """Compare; `again` are runs alone of suspects, which are counted as runs alone, too."""
    cells = suspected(alone, beside)
    judged = [one for one in (*alone, *again) if one.verdict in ("pass", "fail")]
    loaded = [one for one in beside if one.verdict in ("pass", "fail")]
    test = compare(_counts(loaded), _counts(judged)) if judged and loaded else None
    return Races(tuple(_suspect(cell, alone, beside, again) for cell in cells), test)


def _suspect(
    cell: int, alone: Sequence[Invocation], beside: Sequence[Invocation], again: Sequence[Invocation]
) -> Suspect:
    mine, loaded, later = ([one for one in some if one.cell == cell] for some in (alone, beside, again))
    failures = tuple(one for one in loaded if one.verdict == "fail")[:EVIDENCE]
    overlapping = tuple(
        tuple(other.session for other in beside if other is not one and _overlap(one, other))
        for one in failures
    )
    return Suspect(
        cell, _counts(mine), _counts(loaded), _counts(later), failures, overlapping,
        next(one.session for one in mine if one.verdict == "pass"),
    )  # fmt: skip


def _overlap(one: Invocation, other: Invocation) -> bool:
    return one.level == other.level and one.started < other.ended and other.started < one.ended


def _counts(invocations: Sequence[Invocation]) -> tuple[int, int]:
    return sum(one.verdict == "pass" for one in invocations), len(invocations)
