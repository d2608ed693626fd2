"""`split_events`: a stream in hostile pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange

MOST = 64
"""Pieces that one event is divided into, at most."""


class SplitEvents(Fault):
    """Deliver the same bytes of a stream in hostile pieces.

    What it does:
        Divides every event into pieces of `piece_bytes` that are written one by one: inside of
        characters, names, escapes and line ends. Not a byte is changed or delayed.

    Why agents break:
        Whoever parses each piece by itself, or decodes it to text before it is whole, works on a fast
        network and fails on a slow one: half characters, events taken for two.

    Real-world source:
        TCP promises no borders. Small windows, compression and TLS records divide streams anywhere.

    Example:
        faults:
          - split_events: {piece_bytes: 3}
            on: {kind: llm}
    """

    name: ClassVar[str] = "split_events"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS
    outermost: ClassVar[bool] = True

    piece_bytes: Annotated[int, Field(ge=1, le=65_536, description="the size of a piece")] = 7

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a stream has events."""
        return super().inapplicable(exchange) or no_stream(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Splitter(self.piece_bytes)


class _Splitter(Mutator):
    def __init__(self, piece_bytes: int) -> None:
        self._piece_bytes = piece_bytes

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        size = max(self._piece_bytes, -(-len(chunk.data) // MOST))
        for at in range(0, len(chunk.data), size):
            yield Send(chunk.data[at : at + size])
        if len(chunk.data) > size:
            self.effect = f"events divided into pieces of {self._piece_bytes} bytes"
