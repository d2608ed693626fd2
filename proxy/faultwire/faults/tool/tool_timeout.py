"""`tool_timeout`: a tool does not answer in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults._settings import ErrorText, Milliseconds
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolTimeout(ResultFault):
    """Tell the model that a tool took too long.

    What it does:
        Gives the error of a time limit for the tool's result, after `wait_ms`, as if the tool had been
        waited for: a 504 where the tool is an HTTP service, a result with `isError` by MCP, else the
        result in the request to the model. The tool itself has run, and what it did is done.

    Why agents break:
        The model calls the tool again and the work is done twice; or it answers from memory. The agent
        has spent its own time limit on waiting.

    Real-world source:
        Searches and databases under load; tools that call another agent.

    Example:
        faults:
          - tool_timeout: {limit_s: 30}
            on: {tool: create_ticket}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "tool_timeout"
    fails: ClassVar[bool] = True

    limit_s: Annotated[float, Field(gt=0, le=86_400, description="the limit that the error names")] = 30
    wait_ms: Annotated[Milliseconds, Field(description="how long the agent really waits")] = 0
    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None

    @property
    def failed_status(self) -> int:
        """What a gateway says of a time limit."""
        return 504

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """The error in the words of a framework."""
        usual = f"Error: tool `{result.name}` timed out after {self.limit_s:g} seconds"
        return Rewrite(self.message or usual, is_error=True)

    def delay_s(self, result: ToolResult, dice: FaultDice) -> float:
        """The wait for a tool that never comes."""
        return self.wait_ms / 1000
