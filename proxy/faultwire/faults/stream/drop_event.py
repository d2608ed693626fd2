"""`drop_event`: an event of a stream is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.faults.stream._which import EventFault, EventMutator, Picker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class DropEvent(EventFault):
    """Lose single events of a stream.

    What it does:
        Leaves out the event with the ordinal `at`, or each with the chance `share`. All others arrive
        as they were, and the stream ends as it should.

    Why agents break:
        Nothing numbers the pieces of an answer: a word, a digit or half of a tool call's arguments is
        missing, and the rest joins up without a seam.

    Real-world source:
        Gateways that re-frame streams and lose what crosses a buffer's border; reconnects that resume
        one event too late.

    Example:
        faults:
          - drop_event: {at: 3}
            on: {kind: llm}
    """

    name: ClassVar[str] = "drop_event"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Dropper(Picker(self, dice))


class _Dropper(EventMutator):
    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._lost: list[int] = []

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if not self._picker.picks(chunk):
            yield Send(chunk.data)
            return
        self._lost.append(self._picker.number)
        count = len(self._lost)
        self.effect = f"event {self._lost[0]} lost" if count == 1 else f"{count} events lost"
