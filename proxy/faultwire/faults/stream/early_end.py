"""`early_end`: a stream ends in good order before it is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.errors import WireError
from faultwire.events import Cut, Kind, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_answer, no_stream, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange
    from faultwire.wire.protocol import Protocol


class EarlyEnd(Fault):
    """End a stream cleanly without its finish reason.

    What it does:
        Passes events on until the one that says why the model stopped, or only `after_events` of them,
        then ends the response as if it were whole: the message is complete for HTTP, and for the
        provider's protocol it is not.

    Why agents break:
        Most SDKs end their loop without an error, so half an answer looks like a whole one; the
        finish reason is `None`, and nobody looks at it. One well-known gateway even makes up `stop`.

    Real-world source:
        Proxies that turn an upstream's failure into a clean end, servers that stop at their own limit.

    Example:
        faults:
          - early_end: {after_events: 4}
            on: {kind: llm}
    """

    name: ClassVar[str] = "early_end"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm", "agent")

    after_events: Annotated[
        int | None, Field(ge=0, le=1_000_000, description="how many arrive at most; `null`: all but the end")
    ] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only the streams of models and agents have a finish reason, or a last state."""
        return super().inapplicable(exchange) or no_stream(exchange) or no_answer(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        protocol = protocol_of(exchange)
        return _Early(protocol, self.after_events) if protocol else Mutator()


class _Early(Mutator):
    def __init__(self, protocol: Protocol, after_events: int | None) -> None:
        self._protocol = protocol
        self._reader = protocol.reader()
        self._most = after_events
        self._passed = 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._most == self._passed or self._has_finish_reason(chunk.data):
            self.effect = f"ended cleanly after {self._passed} events, without a finish reason"
            yield Cut(clean=True)
        else:
            self._passed += 1
            yield Send(chunk.data)

    def _has_finish_reason(self, event: bytes) -> bool:
        try:
            self._reader.feed(event)
        except WireError:
            return False
        return self._reader.view().finish_reason is not None or self._protocol.is_terminal(event)
