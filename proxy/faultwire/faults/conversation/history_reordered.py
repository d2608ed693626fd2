"""`history_reordered`: the model reads what was said in another order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from faultwire.faults.conversation._rearranging import HistoryFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.faults.conversation._history import History


class HistoryReordered(HistoryFault):
    """Swap two neighbouring turns of the conversation.

    What it does:
        Picks, by the dice, two turns of the user that follow each other, both older than the newest, and
        sends the model the later one first. With `of: rounds` it swaps two rounds of tool calls in the newest
        turn. Answers go with their questions and results with their calls. They stay swapped in every later
        request of this conversation. A history with fewer than two of them is left alone.

    Why agents break:
        The last word counts: a correction comes before what it corrects, a cancellation before the order, an
        old balance after the new one. Models believe the order that they read.

    Real-world source:
        Histories kept in stores without an order or sorted by a clock with seconds, messages of several
        writers merged, retries that are appended late.

    Example:
        faults:
          - history_reordered:
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "history_reordered"

    def arranged(self, history: History, order: Sequence[int], unit: float) -> list[int]:
        """Two of those that still stand one behind the other."""
        turns = history.turns()
        parts = turns[:-1] if self.of == "turns" else [p for turn in turns[-1:] for p in history.rounds(turn)]
        made = list(order)
        place = {at: index for index, at in enumerate(made)}
        pairs = [
            (one, other)
            for one, other in pairwise(parts)
            if one.start in place
            and history.is_paired(one)
            and history.is_paired(other)
            and made[place[one.start] : place[one.start] + len(one) + len(other)] == [*one, *other]
        ]
        if pairs:
            one, other = pairs[int(unit * len(pairs))]
            start = place[one.start]
            made[start : start + len(one) + len(other)] = [*other, *one]
        return made

    def describe(self, before: Sequence[int], order: Sequence[int]) -> str:
        """How much of it stands elsewhere."""
        moved = sum(at != was for was, at in zip(before, order, strict=True))
        word = "turns" if self.of == "turns" else "rounds of calls"
        return f"{word} swapped: {moved} of {len(order)} messages stand elsewhere"
