"""`duplicate_event`: an event of a stream comes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.faults.stream._which import EventFault, EventMutator, Picker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class DuplicateEvent(EventFault):
    """Deliver single events of a stream twice.

    What it does:
        Sends the event with the ordinal `at`, or each with the chance `share`, twice in a row, byte
        for byte.

    Why agents break:
        Pieces are appended without a look at where they belong: words appear twice, and a tool call's
        arguments are no JSON any more, or name a doubled amount.

    Real-world source:
        Gateways that repeat what was not acknowledged, clients that resume a stream one event too early.

    Example:
        faults:
          - duplicate_event: {share: 0.1}
            on: {kind: llm}
    """

    name: ClassVar[str] = "duplicate_event"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Doubler(Picker(self, dice))


class _Doubler(EventMutator):
    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._twice: list[int] = []

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        yield Send(chunk.data)
        if self._picker.picks(chunk):
            self._twice.append(self._picker.number)
            count = len(self._twice)
            self.effect = f"event {self._twice[0]} sent twice" if count == 1 else f"{count} events sent twice"
            yield Send(chunk.data)
