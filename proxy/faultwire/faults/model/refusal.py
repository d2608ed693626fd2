"""`refusal`: the model declines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.faults._settings import ErrorText
from faultwire.wire.editing.api import Change, Finish

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class Refusal(AnswerFault):
    """Let the model decline to answer.

    What it does:
        Replaces the text of an answer, whole or streamed, with a refusal and removes its tool calls.
        With `declared: true` the refusal stands where the provider declares one (`refusal` at OpenAI,
        the stop reason `refusal` at Anthropic); else it is an ordinary text, as most refusals are.

    Why agents break:
        An apology is taken for the result: it is stored, mailed or parsed. Agents that repeat the
        question get the same answer; whoever expects JSON fails on prose.

    Real-world source:
        Words that sound dangerous in a harmless task, stricter model versions, filters on medical,
        legal or financial questions.

    Example:
        faults:
          - refusal: {declared: false}
            on: {kind: llm}
            trigger: {probability: 0.1}
    """

    name: ClassVar[str] = "refusal"
    did: ClassVar[str] = "answer replaced with a refusal"

    message: Annotated[ErrorText, Field(description="how it declines")] = (
        "I'm sorry, but I can't help with that request."
    )
    declared: Annotated[bool, Field(description="whether it is marked as a refusal")] = False

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The refusal alone."""
        finish: Finish = "refusal" if self.declared else "stop"
        return Change(lambda _: self.message, lambda _: (), finish, refuse=self.declared)
