"""`overloaded`: the provider has no room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import with_header
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText, Seconds
from faultwire.faults._wire import error_answer, failure_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class Overloaded(Fault):
    """Answer that the service is overloaded, in the provider's own way.

    What it does:
        Gives the status and error that this provider uses: 529 with `overloaded_error` from Anthropic,
        503 elsewhere. Upstream is not called.

    Why agents break:
        SDKs repeat the call three times within seconds, all of which fail. A fallback to another model
        is rarely tried out; an error handler that lists statuses does not list 529.

    Real-world source:
        New models on their first day, regional outages, the hour in which everybody works.

    Example:
        faults:
          - overloaded: {retry_after_s: 5}
            on: {kind: llm, provider: anthropic}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "overloaded"
    site: ClassVar[Site] = "response"
    answers: ClassVar[bool] = True

    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None
    retry_after_s: Annotated[Seconds | None, Field(description="the wait; `null`: no header")] = None

    @property
    def final(self) -> bool:
        """Its answer is the only one."""
        return True

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        answer = failure_answer(exchange, "overloaded", self.message) or error_answer(
            exchange, 503, message=self.message
        )
        if self.retry_after_s is not None:
            wait = str(-int(-self.retry_after_s // 1))  # whole seconds, rounded up (RFC 9110 §10.2.3)
            answer = replace(answer, headers=with_header(answer.headers, "retry-after", wait))
        return Answered(answer)
