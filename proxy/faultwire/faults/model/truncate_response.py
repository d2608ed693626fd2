"""`truncate_response`: the model stops in the middle of what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.errors import WireError
from faultwire.events import Kind, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_answer, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange
    from faultwire.wire.protocol import Protocol


class TruncateResponse(Fault):
    """Cut the model's answer short, as if it had reached its limit of tokens.

    What it does:
        Keeps `max_tokens` tokens of the answer (each word and each sign counts as one), whole or
        streamed, and gives it the finish reason and usage that the provider gives for it (`length`,
        `max_tokens`). Text and tool-call arguments are cut alike, in the order in which the model sent
        them. A shorter answer is left alone.

    Why agents break:
        Half a sentence is taken for the answer, half a JSON object for a tool call. Few programs look
        at the finish reason.

    Real-world source:
        Any limit of output tokens that is set too low; reasoning that uses the limit up before the
        answer begins.

    Example:
        faults:
          - truncate_response: {max_tokens: 20}
            trigger: {probability: 0.3}
    """

    name: ClassVar[str] = "truncate_response"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)

    max_tokens: Annotated[
        int, Field(ge=1, le=1_000_000, description="how many tokens are kept: words and signs")
    ]

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only answers can be cut, and only those of a model."""
        return super().inapplicable(exchange) or no_answer(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start with the whole budget."""
        protocol = protocol_of(exchange)
        return _Cutter(protocol, self.max_tokens) if protocol else Mutator()


class _Cutter(Mutator):
    def __init__(self, protocol: Protocol, max_tokens: int) -> None:
        self._protocol = protocol
        self._max_tokens = max_tokens
        self._editor = protocol.truncator(max_tokens)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if chunk.unit == "event":
            yield from self._sent(self._editor.feed(chunk.data))
        else:
            yield Send(self._cut(chunk.data) if chunk.unit == "body" else chunk.data)

    def finish(self) -> Iterable[Action]:
        yield from self._sent(self._editor.finish())

    def _sent(self, events: Iterable[bytes]) -> Iterable[Action]:
        for event in events:
            yield Send(event)
        if self._editor.changed:
            self._mark_cut()

    def _cut(self, body: bytes) -> bytes:
        try:
            cut = self._protocol.truncate(body, self._max_tokens)
        except WireError:
            return body  # an answer that its own protocol does not know is passed on as it is
        if cut != body:
            self._mark_cut()
        return cut

    def _mark_cut(self) -> None:
        tokens = "1 token" if self._max_tokens == 1 else f"{self._max_tokens} tokens"
        self.effect = f"answer cut to {tokens} (words and signs)"
