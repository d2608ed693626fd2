"""`tool_wrong_values`: a tool is wrong about the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import ResultFault
from faultwire.faults._values import altered
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolWrongValues(ResultFault):
    """Change the numbers, dates and names in a tool's result.

    What it does:
        Gives numbers another value of the same form, 5 to 40 % away, shifts dates by days, and swaps a
        few well-known names and places, all by the dice. JSON stays JSON and keeps its keys, ids and
        types. A result without facts is left alone. The same wrong values stay in every later request.

    Why agents break:
        Nothing looks wrong. Agents that never compare two sources, or a sum with its parts, act on it.

    Real-world source:
        Wrong units and currencies, test data in production, columns that were swapped in an import.

    Example:
        faults:
          - tool_wrong_values:
            on: {tool: get_balance}
    """

    name: ClassVar[str] = "tool_wrong_values"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The result with other facts."""
        text = altered(result.text, dice)
        return Rewrite(text, is_error=result.is_error) if text != result.text else None
