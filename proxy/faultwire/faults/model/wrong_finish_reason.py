"""`wrong_finish_reason`: the model stopped for another reason than it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class WrongFinishReason(AnswerFault):
    """Give the answer another finish reason.

    What it does:
        Replaces the reason why the model stopped with this provider's word for `reason`, in whole
        answers and streams. Nothing else changes, so an answer with a tool call may say `stop`, and a
        whole one `length`.

    Why agents break:
        Loops decide by this word whether to run a tool, ask for more or end: with the wrong one a call
        is never run, or a finished answer is continued for ever.

    Real-world source:
        Imitations of a provider's API that always say `stop`, gateways that translate between
        protocols, and lose what has no equal.

    Example:
        faults:
          - wrong_finish_reason: {reason: stop}
            on: {kind: llm}
    """

    name: ClassVar[str] = "wrong_finish_reason"
    did: ClassVar[str] = "finish reason replaced"

    reason: Annotated[
        Literal["stop", "length", "tool_calls", "content_filter"], Field(description="what it says")
    ] = "length"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The reason alone."""
        return Change(finish=self.reason)
