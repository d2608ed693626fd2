"""Who plays which cell: leases that run out, and results that count once.

A cell is free, leased to one batch, or settled. A batch that ends without a result, or whose lease runs out,
makes its cells free again. The first result of a cell settles it, whoever sends it; any later one changes
nothing. Pure: time comes from the caller.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTS = 4
"""Into so many parts a batch is divided each time that it is lost, so that a cell which ends its workers is
soon alone and takes no other down with it."""
MOST_LOST = 10
"""After so many lost batches a cell is given up."""


@dataclass
class Leases:
    """The cells of a campaign by id, in the order in which they were added."""

    _free: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _known: set[str] = field(default_factory=set)
    _settled: set[str] = field(default_factory=set)
    _batches: dict[str, list[str]] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)
    _lost: Counter[str] = field(default_factory=Counter)
    _given_up: set[str] = field(default_factory=set)

    def add(self, cells: Iterable[str], *, first: bool = False) -> None:
        """Make cells free that are not known yet; `first` before all others, also where they wait already."""
        new = [cell for cell in dict.fromkeys(cells) if cell not in self._known]
        self._known.update(new)
        self._free.update(dict.fromkeys(new))
        if first:
            wanted = set(cells)
            order = sorted(self._free, key=lambda cell: cell not in wanted)
            self._free = OrderedDict.fromkeys(order)

    def take(self, batch: str, most: int, until: float) -> tuple[str, ...]:
        """Lease up to `most` cells to a batch until a moment, and fewer where some were lost before."""
        taken: list[str] = []
        fits = most
        while self._free:
            lost = self._lost[next(iter(self._free))]
            fits = min(fits, max(1, most // PARTS**lost))
            if len(taken) >= fits:
                break
            taken.append(self._free.popitem(last=False)[0])
        if taken:
            self._batches[batch] = taken
            self._until[batch] = until
        return tuple(taken)

    def settle(self, cell: str) -> bool:
        """A result of a cell has come. Is it the one that counts?"""
        if cell not in self._known or cell in self._settled or cell in self._given_up:
            return False
        self._settled.add(cell)
        self._free.pop(cell, None)
        return True

    def end(self, batch: str, *, lost: bool = False) -> tuple[str, ...]:
        """A batch is over: what it has not settled becomes free. Returns what is given up by that."""
        left = [cell for cell in self._batches.pop(batch, ()) if cell not in self._settled]
        self._until.pop(batch, None)
        given_up: list[str] = []
        for cell in reversed(left):
            self._lost[cell] += lost
            if self._lost[cell] >= MOST_LOST:
                self._given_up.add(cell)
                given_up.append(cell)
            else:
                self._free[cell] = None
                self._free.move_to_end(cell, last=False)
        return tuple(given_up)

    def expired(self, now: float) -> tuple[str, ...]:
        """The batches whose leases have run out; `end` ends them."""
        return tuple(batch for batch, until in self._until.items() if until <= now)

    @property
    def next_end(self) -> float | None:
        """When the next lease runs out."""
        return min(self._until.values(), default=None)

    @property
    def free(self) -> int:
        """Cells that nobody plays."""
        return len(self._free)

    @property
    def leased(self) -> int:
        """Cells that are with a batch and have no result yet."""
        return sum(cell not in self._settled for cells in self._batches.values() for cell in cells)

    @property
    def under_way(self) -> tuple[str, ...]:
        """The batches that have a lease."""
        return tuple(self._batches)

    @property
    def batches(self) -> int:
        """How many of these there are."""
        return len(self._batches)

    def open(self, cells: Iterable[str]) -> bool:
        """Has one of these cells neither a result nor been given up?"""
        return any(cell not in self._settled and cell not in self._given_up for cell in cells)
