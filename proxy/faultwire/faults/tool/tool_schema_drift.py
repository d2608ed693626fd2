"""`tool_schema_drift`: a tool's result has another shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults.model._drift import renamed
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult

Way = Literal["renamed", "retyped", "nested", "wrapped"]


class ToolSchemaDrift(ResultFault):
    """Give a tool's result in the shape of its next version.

    What it does:
        Changes a result that is JSON: all keys have other names (`renamed`), numbers are text and text
        stands in lists (`retyped`), fields move one level down (`nested`), or the whole is inside of
        `data` with a version (`wrapped`). No value is lost. Any other text is left alone.

    Why agents break:
        Code between tool and model reads `None` by the old name; models read the new shape and mix up
        which number is which.

    Real-world source:
        APIs without versions, a field that became a list, envelopes that a gateway adds.

    Example:
        faults:
          - tool_schema_drift: {how: nested}
            on: {tool: get_order}
    """

    name: ClassVar[str] = "tool_schema_drift"

    how: Annotated[Way, Field(description="what changes")] = "renamed"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The same values in another shape."""
        try:
            value = json.loads(result.text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict | list) or not value:
            return None
        text = renamed(result.text, "significant") if self.how == "renamed" else _dumped(self._shaped(value))
        return Rewrite(text, is_error=result.is_error) if text != result.text else None

    def _shaped(self, value: Any) -> Any:
        if self.how == "wrapped":
            return {"api_version": "2", "data": value}
        return _retyped(value) if self.how == "retyped" else _nested(value)


def _retyped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _retyped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_retyped(item) for item in value]
    return [value] if isinstance(value, str) else _dumped(value)


def _nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_nested(item) for item in value]
    if isinstance(value, dict):
        return {key: {"value": item} for key, item in value.items()}
    return value


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
