"""How large batches are: by what their starts and their cells were measured to take. Pure.

A batch costs its start, so that it should not be small; it is lost as a whole with its worker, and the last
ones should end at about the same time, so that it should not be large.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite

FIRST, SMALLEST, LARGEST = 32, 8, 500
"""Cells of a batch: before anything is measured, towards the end, and at most."""
BATCH_S = 20.0
"""Seconds that a batch should take, ..."""
STARTS = 2.0
"""... and how many times as long as its start it should take at least."""
NEWEST = 0.5
"""The weight of the newest measurement."""


@dataclass
class Pace:
    """Seconds of a batch's start and of a cell, each a moving mean; None before the first batch has ended."""

    start_s: float = 0.0
    cell_s: float | None = None

    def add(self, cells: int, batch_s: float, play_s: object) -> None:
        """A batch has ended after `batch_s` seconds, of which its worker played for `play_s` as it says."""
        if cells < 1 or not isinstance(play_s, int | float) or not isfinite(play_s):
            return
        played = min(max(0.0, play_s), batch_s)
        cell, start = played / cells, batch_s - played
        if self.cell_s is None:
            self.cell_s, self.start_s = cell, start
        else:
            self.cell_s += NEWEST * (cell - self.cell_s)
            self.start_s += NEWEST * (start - self.start_s)

    def size(self, free: int, slots: int, idle: int) -> int:
        """How many of the `free` cells the next batch takes, where `slots` batches may run at once and `idle`
        of them are not at work: large at first, and smaller towards the end, so that all end at about the
        same time (guided self-scheduling: Polychronopoulos and Kuck 1987)."""
        guided = free if slots <= 1 else ceil(free / (2 * slots))
        worthwhile, most = SMALLEST, FIRST
        if self.cell_s is not None:
            cell_s = max(self.cell_s, BATCH_S / LARGEST)
            worthwhile = max(SMALLEST, min(LARGEST, ceil(STARTS * self.start_s / cell_s)))
            most = max(worthwhile, int(BATCH_S / cell_s))
        least = min(worthwhile, ceil(free / max(1, idle)))
        return max(1, min(free, LARGEST, most, max(guided, least)))
