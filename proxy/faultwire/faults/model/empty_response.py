"""`empty_response`: the model says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class EmptyResponse(AnswerFault):
    """Take everything out of the model's answer.

    What it does:
        Removes the text and tool calls of an answer, whole or streamed. The finish reason becomes
        `finish`; id, model and usage stay.

    Why agents break:
        Code that reads the first choice's text finds an empty one and returns it as the answer, or
        fails on `None`. Loops that wait for a tool call or a final word go on for ever.

    Real-world source:
        Reasoning that used up the limit of tokens, stop sequences that match at once, models that end
        their turn after a tool's result.

    Example:
        faults:
          - empty_response:
            on: {kind: llm}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "empty_response"
    did: ClassVar[str] = "answer emptied"

    finish: Annotated[Literal["stop", "length"], Field(description="the finish reason")] = "stop"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """No text, no call."""
        return Change(text=lambda _: "", calls=lambda _: (), finish=self.finish)
