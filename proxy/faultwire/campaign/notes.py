"""What a report says of how a campaign went, where there is something to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.campaign.budget import Spending


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


def unbounded(spending: Spending) -> Iterator[str]:
    """That a limit of cost or of tokens did not hold for so many answers of which that is not known."""
    limits = spending.limits
    if limits.cost_usd is not None and spending.unpriced:
        answers = counted(spending.unpriced, "answer")
        yield f"`--max-cost {limits.cost_usd:g}` could not hold: the cost of {answers} is not known"
    if limits.tokens is not None and spending.tokens.unknown:
        answers = counted(spending.tokens.unknown, "answer")
        yield f"`--max-tokens {limits.tokens}` could not hold: {answers} came without usage"


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
