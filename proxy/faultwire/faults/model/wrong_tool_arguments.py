"""`wrong_tool_arguments`: a tool call's arguments are valid and wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from faultwire.faults._arguments import other_values, properties
from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolCall

Way = Literal["values", "types", "missing", "extra"]


class WrongToolArguments(AnswerFault):
    """Change the arguments of the model's tool calls.

    What it does:
        Changes the arguments of every tool call and keeps them JSON: other `values` of the same types
        (numbers, dates, places, other values of an enumeration in the tool's schema; else two texts
        mixed up, or the first argument), other `types` (numbers as text, text in a list), the first
        argument `missing`, or one `extra` that nobody asked for. A call without arguments only changes
        by `extra`.

    Why agents break:
        The tool really runs, with the wrong city, amount or file. Tools that trust their caller do it;
        those that check raise an error in words that the model never sees.

    Real-world source:
        Models mix up the numbers of two customers, write `"5"` for 5, leave required fields out and
        make optional ones up.

    Example:
        faults:
          - wrong_tool_arguments: {how: types}
            on: {kind: llm}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "wrong_tool_arguments"
    did: ClassVar[str] = "tool arguments changed"

    how: Annotated[Way, Field(description="what is wrong with them")] = "values"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The arguments of every call."""

        def changed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
            return tuple(replace(call, arguments=self._wrong(exchange, call, dice)) for call in calls)

        return Change(calls=changed)

    def _wrong(self, exchange: Exchange, call: ToolCall, dice: FaultDice) -> str:
        if self.how == "values":
            return other_values(call.arguments, dice, properties(exchange.request.body, call.name))
        return wrong(call.arguments, self.how)


def wrong(arguments: str, how: Way) -> str:
    """Other arguments, as JSON; the same where they are none, or there is nothing to change."""
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(given, dict) or (how != "extra" and not given):
        return arguments
    if how == "missing":
        del given[next(iter(given))]
    elif how == "extra":
        given["force"] = True
    else:
        given = {name: _other_type(value) for name, value in given.items()}
    return json.dumps(given, ensure_ascii=False)


def _other_type(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return [value] if isinstance(value, str) else str(value)
