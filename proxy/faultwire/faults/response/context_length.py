"""`context_length`: the conversation is too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import cannot, failure_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class ContextLength(Fault):
    """Answer that the conversation does not fit into the model.

    What it does:
        Gives the provider's own 400 for it: OpenAI's `context_length_exceeded`, Anthropic's "prompt is
        too long". Upstream is not called.

    Why agents break:
        A 400 is taken for a programming error and ends the task. Agents that do shorten their history
        drop the system prompt or a tool's result whose call stays, which is the next error.

    Real-world source:
        Long sessions, a tool that returns a whole file, a switch to a smaller model.

    Example:
        faults:
          - context_length:
            on: {kind: llm}
            trigger: {after_calls: 6, max_times: 1}
    """

    name: ClassVar[str] = "context_length"
    site: ClassVar[Site] = "response"
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    answers: ClassVar[bool] = True

    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a model has a context."""
        return super().inapplicable(exchange) or cannot(exchange, "failure")

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        answer = failure_answer(exchange, "context_length", self.message)
        return Answered(answer) if answer else Mutator()
