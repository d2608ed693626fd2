"""`malformed_event`: an event of a stream cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.faults.stream._which import EventFault, EventMutator, Picker
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class MalformedEvent(EventFault):
    """Break the data of single events of a stream.

    What it does:
        Cuts the data of the event with the ordinal `at`, or of each with the chance `share`, in the
        middle. Its frame, its name and all other events are as they were.

    Why agents break:
        The error is a bare one of the JSON parser, from inside the loop over the stream, where only
        the SDK's own errors are expected; some clients skip the event in silence.

    Real-world source:
        Gateways that cut long lines, servers that flush half an event before they fail.

    Example:
        faults:
          - malformed_event: {at: 4}
            on: {kind: llm}
    """

    name: ClassVar[str] = "malformed_event"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Breaker(Picker(self, dice))


class _Breaker(EventMutator):
    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._broken: list[int] = []

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        data = _halved(chunk.data) if self._picker.picks(chunk) else chunk.data
        if data != chunk.data:
            self._broken.append(self._picker.number)
            count = len(self._broken)
            self.effect = (
                f"event {self._broken[0]} cut in half" if count == 1 else f"{count} events cut in half"
            )
        yield Send(data)


def _halved(event: bytes) -> bytes:
    """The event with half of its data; where it has no fields, half of its bytes and its line end."""
    fields = sse.fields(event)
    if fields is None:
        return event[: len(event) // 2] + (b"\n" if event.endswith(b"\n") else b"")
    return sse.with_data(event, fields.data[: len(fields.data) // 2]) if len(fields.data) > 1 else event
