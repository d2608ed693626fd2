"""`tool_slow`: a tool takes its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults._settings import Milliseconds

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolSlow(ResultFault):
    """Let a tool's result arrive late.

    What it does:
        Holds the tool's own call back for `ms`, or somewhere within `jitter_ms` of it; where the tool
        makes none on the wire, the request that brings its result to the model. The result itself is
        not touched. Each result waits once; several in one request wait one after the other.

    Why agents break:
        A whole task has one time limit and a tool has none: the slow one uses up what the others need.
        Users see nothing and ask again.

    Real-world source:
        Cold starts, large queries, rate limits inside of a tool.

    Example:
        faults:
          - tool_slow: {ms: 5000, jitter_ms: 1000}
            on: {tool: web_search}
    """

    name: ClassVar[str] = "tool_slow"

    ms: Annotated[Milliseconds, Field(gt=0, description="the usual wait")]
    jitter_ms: Annotated[Milliseconds, Field(description="how far waits vary, evenly")] = 0

    def rewrite(self, result: ToolResult, dice: FaultDice) -> None:
        """The result stays."""

    def delay_s(self, result: ToolResult, dice: FaultDice) -> float:
        """The wait for this result, in whole milliseconds."""
        jitter = dice.uniform(-self.jitter_ms, self.jitter_ms, "delay") if self.jitter_ms else 0.0
        return max(0, round(self.ms + jitter)) / 1000
