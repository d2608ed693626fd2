"""`content_filter`: what was asked or answered is withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._changing import Changing
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import cannot, failure_answer, no_answer, protocol_of
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class ContentFilter(Fault):
    """Let the provider's filter stop a request or an answer.

    What it does:
        `stops: prompt` gives the provider's 400 for what it will not process; upstream is not called.
        `stops: answer` takes the text and tool calls out of a real answer, whole or streamed, and
        gives it the finish reason for it (`content_filter`, `refusal`); usage stays.

    Why agents break:
        An empty answer with status 200 is stored or shown; a filtered prompt is sent again and again,
        since the same conversation is filtered each time.

    Real-world source:
        Azure filters prompts and answers by default; a quoted e-mail, a medical term or a line of a log
        is enough.

    Example:
        faults:
          - content_filter: {stops: answer}
            on: {kind: llm}
            trigger: {probability: 0.1}
    """

    name: ClassVar[str] = "content_filter"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    answers: ClassVar[bool] = True

    stops: Annotated[Literal["prompt", "answer"], Field(description="what is withheld")] = "prompt"
    message: Annotated[ErrorText | None, Field(description="for `prompt`: what the error says")] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only what a model reads and says is filtered."""
        why = super().inapplicable(exchange)
        if self.stops == "prompt":
            return why or cannot(exchange, "failure")
        return why or no_answer(exchange) or cannot(exchange, "answer")

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the error, or wait for the answer."""
        if self.stops == "prompt":
            answer = failure_answer(exchange, "content_filter", self.message)
            return Answered(answer) if answer else Mutator()
        protocol = protocol_of(exchange)
        change = Change(text=lambda _: "", calls=lambda _: (), finish="content_filter")
        return Changing(protocol, change, "answer withheld by the filter") if protocol else Mutator()
