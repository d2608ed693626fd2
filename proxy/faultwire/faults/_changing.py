"""Faults that change a model's answer, whole or streamed, through their protocol's edits."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from faultwire.errors import WireError
from faultwire.events import Kind, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import cannot, no_answer, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange
    from faultwire.wire.editing.api import Change
    from faultwire.wire.protocol import Protocol


class AnswerFault(Fault):
    """A fault on what the model says; everything that it does not mean to change stays."""

    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    did: ClassVar[str]
    """What was done, in words for the ledger."""

    @abstractmethod
    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """What is to become of this answer."""

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only answers can be changed, and only those of a model."""
        return super().inapplicable(exchange) or no_answer(exchange) or cannot(exchange, "answer")

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte."""
        protocol = protocol_of(exchange)
        return Changing(protocol, self.change(exchange, dice), self.did) if protocol else Mutator()


class Changing(Mutator):
    """Changes one answer; one that its own protocol does not know is passed on as it is."""

    def __init__(self, protocol: Protocol, change: Change, did: str) -> None:
        self._edits = protocol.edits
        self._change = change
        self._editor = protocol.edits.stream_editor(change)
        self._did = did

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """The changed body, or the part of a stream that can be sent by now."""
        if chunk.unit == "event" and self._editor is not None:
            yield from self._sent(self._editor.feed(chunk.data))
        else:
            yield Send(self._whole(chunk.data) if chunk.unit == "body" else chunk.data)

    def finish(self) -> Iterable[Action]:
        """What was held back."""
        if self._editor is not None:
            yield from self._sent(self._editor.finish())

    def _sent(self, events: Iterable[bytes]) -> Iterable[Action]:
        for event in events:
            yield Send(event)
        if self._editor is not None and self._editor.changed:
            self.effect = self._did

    def _whole(self, body: bytes) -> bytes:
        try:
            changed = self._edits.change(body, self._change)
        except WireError:
            return body
        if changed != body:
            self.effect = self._did
        return changed
