"""`dropped_tool_call`: the model forgets to make its tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change, Finish

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class DroppedToolCall(AnswerFault):
    """Take the tool calls out of an answer.

    What it does:
        Removes every tool call of an answer, whole or streamed; its text stays. `finish_reason: fixed`
        says that the model simply stopped, `kept` that it waits for tools which it never called. An
        answer without a tool call is left alone.

    Why agents break:
        "I'll look that up for you" is taken for the final answer. With the old finish reason the loop
        looks for calls, finds none, and asks again for ever or ends with an error.

    Real-world source:
        Models announce a call and end their turn; gateways lose calls when they translate.

    Example:
        faults:
          - dropped_tool_call: {finish_reason: kept}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "dropped_tool_call"
    did: ClassVar[str] = "tool calls removed"

    finish_reason: Annotated[
        Literal["fixed", "kept"], Field(description="whether it says that the model stopped")
    ] = "fixed"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """No call."""
        fixed: Finish | None = "stop" if self.finish_reason == "fixed" else None
        return Change(calls=lambda _: (), finish=fixed, finish_was="tool_calls")
