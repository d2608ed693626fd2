"""`reorder_events`: events of a stream change places."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.faults.stream._which import EventFault, EventMutator, Picker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class ReorderEvents(EventFault):
    """Deliver an event after the one that follows it.

    What it does:
        Holds the event with the ordinal `at`, or each with the chance `share`, until the next one has
        been sent. Nothing is lost or changed; the last event of a stream stays where it is.

    Why agents break:
        Words change places, a tool call's arguments are joined in the wrong order, and a block's text
        comes before the block has begun, which some clients take for an error and some for nothing.

    Real-world source:
        Gateways that fetch from several servers, message buses without an order between partitions.

    Example:
        faults:
          - reorder_events: {at: 2}
            on: {kind: llm}
    """

    name: ClassVar[str] = "reorder_events"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Swapper(Picker(self, dice))


class _Swapper(EventMutator):
    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._held: Send | None = None
        self._swapped = 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        picked = self._picker.picks(chunk)
        if self._held is None and picked:
            self._held = Send(chunk.data, text=chunk.text)
            return
        yield Send(chunk.data)
        if self._held is not None:
            self._swapped += 1
            times = "once" if self._swapped == 1 else f"{self._swapped} times"
            self.effect = f"events changed places {times}"
            yield self._held
            self._held = None

    def passing(self, events: Sequence[bytes]) -> int:
        """None while one is held: the next one goes before it."""
        return 0 if self._held is not None else super().passing(events)

    def finish(self) -> Iterable[Action]:
        if self._held is not None:
            yield self._held
