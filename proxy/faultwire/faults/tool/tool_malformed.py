"""`tool_malformed`: a tool's result is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults.response.malformed_body import Mistake, broken
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolMalformed(ResultFault):
    """Let a tool return something that cannot be read.

    What it does:
        Makes one mistake in a result that is JSON (the last bracket is missing, a comma too many, a key
        without quotes, an error page behind it), and cuts any other text in the middle of a line. The
        model reads it as it is.

    Why agents break:
        Models repair what they read: they guess the missing half and go on with it, without a word to
        the user.

    Real-world source:
        Results that were cut to fit, logs between lines of JSON, error pages of a gateway.

    Example:
        faults:
          - tool_malformed: {mistake: html_after}
            on: {tool: get_order}
    """

    name: ClassVar[str] = "tool_malformed"

    mistake: Annotated[Mistake, Field(description="what is wrong with JSON")] = "unclosed"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The broken text, kept raw; an empty result has nothing to break."""
        text = result.text
        if len(text) < 2:
            return None
        data = text.encode("utf-8", "replace")
        made = broken(data, self.mistake).decode("utf-8", "replace")
        return Rewrite(made if made != text else text[: len(text) // 2], raw=True)
