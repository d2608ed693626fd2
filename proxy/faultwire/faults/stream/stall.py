"""`stall`: a stream stops in the middle and stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Cut, Send, Wait
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import Milliseconds
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class Stall(Fault):
    """Let a stream fall silent after some events.

    What it does:
        Passes `after_events` events on, then nothing for `for_ms`; after that the stream goes on.
        Without `for_ms` it stays silent until the client gives up, and is closed then.

    Why agents break:
        Half an answer is there and no error comes. Python's SDKs wait 600 s for the next piece, Node's
        300 s; nothing above them notices.

    Real-world source:
        Workers that hang in the middle of an answer, proxies that lose their upstream without telling.

    Example:
        faults:
          - stall: {after_events: 3, for_ms: 20000}
            on: {kind: llm}
    """

    name: ClassVar[str] = "stall"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    after_events: Annotated[int, Field(ge=0, le=1_000_000, description="how many arrive before")]
    for_ms: Annotated[
        Milliseconds | None, Field(description="how long; `null`: until the client gives up")
    ] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a stream can stall."""
        return super().inapplicable(exchange) or no_stream(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Stalled(self.after_events, self.for_ms)


class _Stalled(Mutator):
    def __init__(self, after_events: int, for_ms: float | None) -> None:
        self._left = after_events
        self._after = after_events
        self._for_ms = for_ms

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._left == 0 and self.effect is None:
            length = "until the client gave up" if self._for_ms is None else f"for {self._for_ms:g} ms"
            self.effect = f"silent {length} after {self._after} events"
            yield Wait(None if self._for_ms is None else self._for_ms / 1000)
            if self._for_ms is None:
                yield Cut(clean=False)
                return
        self._left = max(0, self._left - 1)
        yield Send(chunk.data)
