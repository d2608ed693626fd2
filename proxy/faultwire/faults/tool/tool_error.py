"""`tool_error`: a tool fails."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from faultwire.faults._api import ResultFault
from faultwire.faults._settings import ErrorText
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolError(ResultFault):
    """Tell the model that a tool failed.

    What it does:
        A tool that is called on the wire is not called: over HTTP the agent gets an error with `code`
        (500), by MCP a result with `isError`. Of any other tool the result in the request to the model
        is replaced with an error, marked as one where the protocol can say so; that tool has run. What
        is read is `message`, or what an HTTP client says about `code`, or else the sentence that agent
        frameworks use. The same error stays in every later request of the session.

    Why agents break:
        Models answer from memory as if the tool had worked, call the same tool again without end, or
        tell the user about an error that has a way around. No exception is raised anywhere.

    Real-world source:
        Frameworks catch a tool's exception and hand its text to the model, so that every failure of a
        database, file or search arrives as a sentence in the conversation.

    Example:
        faults:
          - tool_error: {code: 503}
            on: {tool: web_search}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "tool_error"
    calls_tool: ClassVar[bool] = False
    fails: ClassVar[bool] = True

    message: Annotated[ErrorText | None, Field(description="what the error says")] = None
    code: Annotated[int | None, Field(ge=400, le=599, description="or: the HTTP status it got")] = None

    @model_validator(mode="after")
    def _one_cause(self) -> Self:
        if self.message is not None and self.code is not None:
            raise ValueError("found both of `message` and `code`, expected one")
        return self

    @property
    def failed_status(self) -> int:
        """The code that was asked for."""
        return self.code or 500

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """The error in the words of a framework that caught it."""
        return Rewrite(self._text(), is_error=True)

    def _text(self) -> str:
        if self.code is not None:
            return f"Error: {self.code} {_blame(self.code)} Error: {_phrase(self.code)}"
        if self.message is None:
            return "An error occurred while running the tool. Please try again."
        return self.message if self.message.lower().startswith("error") else f"Error: {self.message}"


def _blame(code: int) -> str:
    return "Client" if code < 500 else "Server"


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "unknown"
