"""`malformed_tool_arguments`: a tool call's arguments are no JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolCall

Mistake = Literal["cut", "trailing_comma", "fenced", "prose"]


class MalformedToolArguments(AnswerFault):
    """Break the arguments of the model's tool calls.

    What it does:
        Makes the arguments of every tool call, whole or streamed, something that does not parse: `cut`
        in the middle, with a `trailing_comma`, `fenced` as a Markdown block, or `prose` before them.
        Anthropic's whole answers hold arguments as a value, so there it becomes a string. Gemini withholds
        such a call: its answer ends with `MALFORMED_FUNCTION_CALL` and a `finishMessage` that names it.

    Why agents break:
        The parser's error comes between the model and the tool, where frameworks catch nothing: the
        turn is lost. Others call the tool with an empty object.

    Real-world source:
        Small models, answers that were cut by their limit of tokens, quotes inside of quotes.

    Example:
        faults:
          - malformed_tool_arguments: {mistake: cut}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "malformed_tool_arguments"
    did: ClassVar[str] = "tool arguments broken"

    mistake: Annotated[Mistake, Field(description="what is wrong with them")] = "cut"

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The arguments of every call."""

        def broken(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
            return tuple(replace(call, arguments=mangled(call.arguments, self.mistake)) for call in calls)

        return Change(calls=broken)


def mangled(arguments: str, mistake: Mistake) -> str:
    """The arguments with a mistake that a JSON parser refuses."""
    text = arguments.strip() or "{}"
    if mistake == "trailing_comma" and text.endswith("}"):
        return text[:-1] + ",}"
    if mistake == "fenced":
        return f"```json\n{text}\n```"
    if mistake == "prose":
        return f"Here are the arguments: {text}"
    return text[: max(1, len(text) // 2)]
