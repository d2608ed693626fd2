"""`bandwidth`: the line is thin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Send, Wait
from faultwire.faults._api import Fault, Mutator, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange

STEPS_PER_S = 10
"""Into how many pieces a second's bytes are divided, so that the flow is even."""


class Bandwidth(Fault):
    """Let the answer through at so many bytes per second.

    What it does:
        Divides the response into pieces of a tenth of a second and waits for each as long as it would
        take on such a line. Every byte arrives, in order.

    Why agents break:
        Time limits that count from one read to the next never trip, while a limit on the whole call
        does in the middle of an answer. Large tool results and images take minutes.

    Real-world source:
        Mobile networks, throttled containers, gateways that share one line among many.

    Example:
        faults:
          - bandwidth: {bytes_per_s: 2000}
            on: {kind: tool}
    """

    name: ClassVar[str] = "bandwidth"
    site: ClassVar[Site] = "connection"

    bytes_per_s: Annotated[int, Field(ge=1, le=1_000_000_000, description="how wide the line is")]

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte."""
        return _Narrow(self.bytes_per_s)


class _Narrow(Mutator):
    def __init__(self, bytes_per_s: int) -> None:
        self._bytes_per_s = bytes_per_s
        self._size = max(1, bytes_per_s // STEPS_PER_S)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        for at in range(0, len(chunk.data), self._size):
            piece = chunk.data[at : at + self._size]
            self.effect = f"slowed to {self._bytes_per_s} bytes per second"
            yield Wait(len(piece) / self._bytes_per_s)
            yield Send(piece)
