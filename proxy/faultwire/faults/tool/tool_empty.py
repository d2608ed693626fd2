"""`tool_empty`: a tool finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import ResultFault
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolEmpty(ResultFault):
    """Tell the model that a tool returned nothing.

    What it does:
        Replaces the tool's result, where the tool gives it (HTTP, MCP) or else in the request to the
        model, with an empty one: an empty text, or `{}` and `[]` where it was JSON. It is no error. The
        same emptiness stays in every later request of the session.

    Why agents break:
        Nothing found is not the same as nothing there: models make up what they expected to find, or
        tell the user that it does not exist.

    Real-world source:
        Searches on a lagging index, filters that match nothing, missing rights that hide rows.

    Example:
        faults:
          - tool_empty:
            on: {tool: web_search}
            trigger: {probability: 0.3}
    """

    name: ClassVar[str] = "tool_empty"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """An empty result; what is empty already stays."""
        return Rewrite("") if result.text else None
