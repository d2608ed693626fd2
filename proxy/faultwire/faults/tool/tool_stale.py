"""`tool_stale`: a tool repeats its earlier result."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import ResultFault
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolResult
    from faultwire.faults._api import Mutator


class ToolStale(ResultFault):
    """Give the model a tool's previous result once more.

    What it does:
        Replaces a result with what the same tool returned the time before in this session, whatever it
        was asked. The first result of a tool is left alone. The tool itself has run.

    Why agents break:
        Agents that check whether their change arrived see the old state, and change it again; two
        customers get the answer about the first.

    Real-world source:
        Caches that ignore an argument, replicas that lag behind, memoised functions.

    Example:
        faults:
          - tool_stale:
            on: {tool: get_order}
    """

    name: ClassVar[str] = "tool_stale"

    def watch(self, exchange: Exchange) -> Mutator | None:
        """Remember what a tool's own exchange says."""
        return self._at_tool(exchange, None) if exchange.kind == "tool" else None

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The earlier result."""
        if result.earlier is None or result.earlier == result.text:
            return None
        return Rewrite(result.earlier, raw=True)
