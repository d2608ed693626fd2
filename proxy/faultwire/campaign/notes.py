"""What a report says of how a campaign went, where there is something to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Counts:
    """What happened to batches."""

    batches: int = 0
    lost: int = 0
    expired: int = 0
    doubled: int = 0
    """Results that came for cells that had one, and were dropped."""
    earlier: int = 0
    """Cells whose results were there when the campaign began."""


def unbounded(cost_usd: float | None, unpriced: int) -> Iterator[str]:
    """That a limit of cost did not hold for so many answers whose price is not known."""
    if cost_usd is not None and unpriced:
        answers = counted(unpriced, "answer")
        yield f"`--max-cost {cost_usd:g}` could not hold: the cost of {answers} is not known"


def notes(counts: Counts, unused: int) -> Iterator[str]:
    """Sentences; none where every batch was played once. `unused` invocations were played and not needed."""
    if counts.lost:
        expired = f" ({counts.expired} at the end of a lease)" if counts.expired else ""
        lost = counted(counts.lost, "batch", "batches")
        yield f"lost and played again: {lost} of {counts.batches}{expired}"
    if counts.doubled:
        yield f"not counted, because their cells had a result: {counted(counts.doubled, 'result')}"
    if unused > 0:
        yield f"played ahead and not looked at: {counted(unused, 'invocation')}"
