"""`missing_usage`: nobody counted the tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class MissingUsage(AnswerFault):
    """Leave out how many tokens were used.

    What it does:
        Removes `usage` from whole answers, and from every event of a stream that tells it. An answer
        that has none is left alone.

    Why agents break:
        Budgets and bills are counted from it: the code that adds it up fails on `None` after the answer
        has arrived, so an answer that was paid for is thrown away; or it counts 0 and never stops.

    Real-world source:
        Streams without `include_usage`, local servers and gateways that do not count.

    Example:
        faults:
          - missing_usage:
            on: {kind: llm}
    """

    name: ClassVar[str] = "missing_usage"
    did: ClassVar[str] = "usage removed"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The usage alone."""
        return Change(drop_usage=True)
