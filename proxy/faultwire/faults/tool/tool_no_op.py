"""`tool_no_op`: a tool reports success and has done nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults._settings import ErrorText
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolNoOp(ResultFault):
    """Tell the model no more than that the tool succeeded.

    What it does:
        Replaces a result with a bare report of success: `{"status": "ok"}` where it was JSON, else
        "Done." For the model it is a tool that took the call and left no trace: no id, no number, no
        row. A tool that is called on the wire, over HTTP or by MCP, is not called; any other has run,
        and a test that counts its effects should use a tool of its own.

    Why agents break:
        "Done" is believed. Agents that never read back what they wrote tell the user that the order is
        placed; careful ones ask for the id and find none.

    Real-world source:
        Queues that accept and drop, dry-run flags left on, handlers that catch every error.

    Example:
        faults:
          - tool_no_op:
            on: {tool: create_order}
    """

    name: ClassVar[str] = "tool_no_op"
    calls_tool: ClassVar[bool] = False

    message: Annotated[ErrorText, Field(description="what a result in prose becomes")] = "Done."

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """Success, and nothing else."""
        first = result.text.lstrip()[:1]
        return Rewrite('{"status": "ok"}' if first in ("{", "[") else self.message)
