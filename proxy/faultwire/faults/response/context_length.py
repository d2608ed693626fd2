"""`context_length`: the conversation is too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import cannot, failure_answer, kept_by_provider
from faultwire.wire.editing import token_budget
from faultwire.wire.framing.grpc_status import shown

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class ContextLength(Fault):
    """Answer that the conversation does not fit into the model.

    What it does:
        Gives the provider's own 400 for it: OpenAI's `context_length_exceeded`, Anthropic's "prompt is
        too long", Gemini's "input token count". Upstream is not called. With `over_tokens` only requests
        that are longer get it, with their length and the limit in its text, so that a conversation that
        grows meets its limit. The length is an estimate, and the ledger says so: the words of the messages,
        tool calls and results, without the tools on offer and pictures. Where the provider keeps the
        conversation nobody here knows its length.

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
    over_tokens: Annotated[
        int | None, Field(ge=1, le=100_000_000, description="the limit; `null`: any request is too long")
    ] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a model has a context, and only a request that is too long does not fit."""
        why = super().inapplicable(exchange) or cannot(exchange, "failure")
        if why is not None or self.over_tokens is None:
            return why
        if exchange.view is None:
            return "the length of the request is not known"
        if kept_by_provider(exchange):
            return "the provider keeps the conversation: its length is not known"
        found = token_budget.of_request(exchange.view)
        return (
            None if found > self.over_tokens else f"about {found} tokens (estimated), no more than the limit"
        )

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        if self.over_tokens is None or exchange.view is None:
            answer = failure_answer(exchange, "context_length", self.message)
            return Answered(answer) if answer else Mutator()
        found = token_budget.of_request(exchange.view)
        usual = _TEXTS.get(exchange.protocol or "")
        message = self.message or (usual.format(found=found, limit=self.over_tokens) if usual else None)
        answer = failure_answer(exchange, "context_length", message)
        if answer is None:
            return Mutator()
        effect = f"about {found} tokens (estimated) are over the limit of {self.over_tokens}"
        return Answered(answer, f"answered {shown(answer)}: {effect}")


_OPENAI = (
    "This model's maximum context length is {limit} tokens. However, your messages resulted in {found} "
    "tokens. Please reduce the length of the messages."
)
_GEMINI = "The input token count ({found}) exceeds the maximum number of tokens allowed ({limit})."
_TEXTS = {
    "openai_chat": _OPENAI,
    "openai_responses": "Your input exceeds the context window of this model. Please adjust your input and "
    "try again.",
    "anthropic": "prompt is too long: {found} tokens > {limit} maximum",
    "gemini": _GEMINI,
    "gemini_grpc": _GEMINI,
    "interactions": _GEMINI,
    "cohere": "too many tokens: total number of tokens in the prompt exceeds the limit of {limit}. Try using "
    "a shorter prompt.",
}
"""What providers say where the limit is known. Clients look for these words: some errors have no code."""
