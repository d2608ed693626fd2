"""`tool_partial`: a tool leaves out a part of its result and does not say so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolPartial(ResultFault):
    """Leave out the end of what a tool returns.

    What it does:
        Keeps the first part of the longest list in a JSON result, or of the lines of any other text, and at
        least one of them. It parses as before, reports success and has no mark of what is missing. A result
        with fewer than two items is left alone.

    Why agents break:
        Half of a list looks like a whole list. Sums, counts and "none of them" are wrong, and nobody asks
        for the rest.

    Real-world source:
        Page sizes that were not asked for, cursors that are ignored, queries that stop at a limit.

    Example:
        faults:
          - tool_partial: {keep: 0.5}
            on: {tool: list_orders}
    """

    name: ClassVar[str] = "tool_partial"

    keep: Annotated[float, Field(ge=0, lt=1, description="how much is kept")] = 0.5

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The result without its end."""
        try:
            document = json.loads(result.text)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict | list):
            longest = max(_lists(document), key=len, default=[])
            if len(longest) < 2:
                return None
            del longest[self._kept(len(longest)) :]
            return Rewrite(json.dumps(document, ensure_ascii=False), is_error=result.is_error)
        lines = result.text.splitlines(keepends=True)
        if len(lines) < 2:
            return None
        return Rewrite("".join(lines[: self._kept(len(lines))]), is_error=result.is_error, raw=True)

    def _kept(self, count: int) -> int:
        return max(1, min(count - 1, int(count * self.keep)))


def _lists(value: Any) -> list[list[Any]]:
    """Every list in a JSON value."""
    found, left = [], [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            found.append(one)
            left += one
        elif isinstance(one, dict):
            left += one.values()
    return found
