"""`duplicate_tool_call`: the model calls a tool twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolCall


class DuplicateToolCall(AnswerFault):
    """Let the model make the same tool call several times in one answer.

    What it does:
        Adds `copies` of the first tool call to the answer, whole or streamed, with ids of their own and
        the same name and arguments. An answer without a tool call is left alone.

    Why agents break:
        Calls of one answer are run side by side: two bookings, two mails, two rows. A lock or a look
        for equal calls is rarely there.

    Real-world source:
        Models with parallel tool calls do it by themselves when a question names one thing twice.

    Example:
        faults:
          - duplicate_tool_call: {copies: 1}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "duplicate_tool_call"
    did: ClassVar[str] = "tool call repeated"

    copies: Annotated[int, Field(ge=1, le=20, description="how many are added")] = 1

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """More of the first call."""

        def doubled(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
            more = (
                (replace(calls[0], id=other(calls[0].id, at)) for at in range(self.copies)) if calls else ()
            )
            return (*calls, *more)

        return Change(calls=doubled)


def other(call_id: str, at: int) -> str:
    """Another id of the same form and length, where it is long enough to be unique."""
    ending = f"d{at + 1}"
    return call_id[: -len(ending)] + ending if len(call_id) > 12 else f"{call_id}_{ending}"
