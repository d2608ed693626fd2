"""`unknown_tool_call`: the model calls a tool that does not exist."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolCall

_ENDINGS = ("_v2", "_tool", "_async", "s", "_all")


class UnknownToolCall(AnswerFault):
    """Let the model call a tool that it was never given.

    What it does:
        Gives the first tool call of an answer, whole or streamed, another name: `tool_name`, or one
        that is close to the right one and not among the tools of the request. Its id and arguments
        stay. An answer without a tool call is left alone.

    Why agents break:
        A lookup by name fails in the middle of the loop with a bare `KeyError`; others answer nothing
        for this call, which the provider refuses with its next 400.

    Real-world source:
        Models make up tools that they know from training, or keep one of an earlier version in mind.

    Example:
        faults:
          - unknown_tool_call: {tool_name: search_internet}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "unknown_tool_call"
    did: ClassVar[str] = "tool call renamed to an unknown tool"

    tool_name: Annotated[
        str | None, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="the name; else one that is close")
    ] = None

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """Another name for the first call."""
        known = set(exchange.view.tools) if exchange.view else set[str]()

        def renamed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
            return tuple(
                replace(call, name=self._other(call.name, known, dice)) if not at else call
                for at, call in enumerate(calls)
            )

        return Change(calls=renamed)

    def _other(self, name: str, known: set[str], dice: FaultDice) -> str:
        if self.tool_name is not None:
            return self.tool_name
        start = dice.choice(_ENDINGS, "ending")
        at = _ENDINGS.index(start)
        near = (f"{name}{ending}" for ending in (*_ENDINGS[at:], *_ENDINGS[:at], "_unknown_tool"))
        return next(one for one in near if one not in known)
