"""`status`: an error in place of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import with_header
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered, Replaced
from faultwire.faults._settings import ErrorText, HeaderFields
from faultwire.faults._wire import error_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class Status(Fault):
    """Answer with an error status.

    What it does:
        Gives `code` with the error body and headers that this provider sends for it: OpenAI's and
        Anthropic's JSON with a request id, a plain JSON error for other services. Upstream is not
        called, unless `call_upstream` is true: then the call is really made, and only its answer is
        replaced.

    Why agents break:
        SDKs try three times, then raise: code around them expects an answer, not an exception, and
        ends the whole task, or hides the error and lets the model go on without the facts. With
        `call_upstream` the work was done although it looks as if it failed: repeating it does it twice.

    Real-world source:
        503 and 529 while a provider is overloaded, 500 from a bad deployment, 401 after a key was
        changed, 404 when a model is retired; gateways that answer 504 after the server has done the work.

    Example:
        faults:
          - status: {code: 503}
            on: {tool: "*"}
    """

    name: ClassVar[str] = "status"
    site: ClassVar[Site] = "response"
    answers: ClassVar[bool] = True

    code: Annotated[int, Field(ge=400, le=599, description="the status")]
    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None
    headers: Annotated[
        HeaderFields, Field(default_factory=dict, description="more header fields, or other values")
    ]
    call_upstream: Annotated[bool, Field(description="make the call and drop its answer")] = False

    @property
    def final(self) -> bool:
        """Its answer is the only one where upstream is not called."""
        return not self.call_upstream

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        answer = error_answer(exchange, self.code, message=self.message)
        for name, value in self.headers.items():
            answer = replace(answer, headers=with_header(answer.headers, name, value))
        called = self.call_upstream or exchange.response is not None
        return Replaced(answer) if called else Answered(answer)
