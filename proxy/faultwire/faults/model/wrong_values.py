"""`wrong_values`: the model is wrong about the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._changing import AnswerFault
from faultwire.faults._values import altered
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class WrongValues(AnswerFault):
    """Change the numbers, dates and names in what the model says.

    What it does:
        Gives every number of the text another value of the same form, 5 to 40 % away, shifts dates by
        days, and swaps a few well-known names and places, all by the dice. JSON stays JSON and keeps
        its keys, ids and types; tool calls stay as they are. A text without facts is left alone.

    Why agents break:
        Nothing is malformed. Only a comparison with the source, a sum or a second look shows it, and
        agents that check form and not content pass the wrong number on.

    Real-world source:
        Hallucinated figures, arithmetic without a calculator, knowledge that ends a year ago.

    Example:
        faults:
          - wrong_values:
            on: {kind: llm}
            trigger: {probability: 0.3}
    """

    name: ClassVar[str] = "wrong_values"
    did: ClassVar[str] = "values in the text changed"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The facts in the text."""
        return Change(text=lambda text: altered(text, dice))
