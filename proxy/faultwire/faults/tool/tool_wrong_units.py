"""`tool_wrong_units`: a tool's numbers are in another unit than it says."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed and linear
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult

_NUMBER = re.compile(r"(?<![\w.\-:\"/])(?<!\d,)\d{1,15}(?:\.\d{1,9})?(?![\w:/]|-\d|\.\d)")
"""One that stands alone: no part of a date, a time, an address or a name, and no number in a quoted id."""


class ToolWrongUnits(ResultFault):
    """Give a tool's numbers in another unit, under the old name.

    What it does:
        Multiplies the numbers of a result by `factor` (cents for euros, metres for kilometres, Fahrenheit
        has no factor), and leaves all names, ids, dates and quoted texts alone. A result without such a
        number is left alone.

    Why agents break:
        The field is still called `price`, and a value a hundred times too large is still a number. Only who
        knows what is plausible, or asks a second source, notices.

    Real-world source:
        An API that went from euros to cents, a sensor with feet for metres, milliseconds read as seconds.

    Example:
        faults:
          - tool_wrong_units: {factor: 0.01}
            on: {tool: get_price}
    """

    name: ClassVar[str] = "tool_wrong_units"

    factor: Annotated[float, Field(gt=0, le=1e6, description="what each number is multiplied by")] = 100.0

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The result with other numbers."""
        text = _NUMBER.sub(lambda found: f"{float(found.group()) * self.factor:.10g}", result.text)
        return Rewrite(text, is_error=result.is_error, raw=True) if text != result.text else None
