"""`stream_error`: the provider reports an error inside a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Cut, Kind, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import cannot, no_answer, no_stream, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Headers
    from faultwire.wire.protocol import Protocol


class StreamError(Fault):
    """Break a stream off with the provider's own error event.

    What it does:
        Passes `after_events` events on, then sends the event by which this provider reports an error
        in a stream that has begun (over gRPC, the trailers), and ends the response. A shorter stream
        gets it before its end.

    Why agents break:
        The status was 200, so nothing is tried again. The error comes out of the loop over the events,
        after half of the answer was shown; a handler of statuses sees `200`.

    Real-world source:
        Anthropic's `event: error` with `overloaded_error`, OpenAI's `data: {"error": …}`: providers
        that fail under load after they have begun to answer.

    Example:
        faults:
          - stream_error: {after_events: 3, type: overloaded}
            on: {kind: llm}
    """

    name: ClassVar[str] = "stream_error"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm", "agent")

    after_events: Annotated[int, Field(ge=0, le=1_000_000, description="how many arrive before")] = 1
    type: Annotated[Literal["overloaded", "server_error"], Field(description="what it says")] = "overloaded"
    message: Annotated[ErrorText | None, Field(description="its words; else what is usual")] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where the protocol has such an event."""
        why = super().inapplicable(exchange) or no_stream(exchange) or no_answer(exchange)
        return why or cannot(exchange, "error_event")

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        protocol = protocol_of(exchange)
        event = protocol.edits.error_event(self.type, self.message) if protocol else None
        if protocol is None or event is None:
            return Mutator()
        trailers = protocol.edits.error_trailers(self.type, self.message)
        return _Failing(self.after_events, event, trailers, protocol)


class _Failing(Mutator):
    def __init__(self, after_events: int, event: bytes, trailers: Headers, protocol: Protocol) -> None:
        self._protocol = protocol
        self._left = after_events
        self._passed = 0
        self._event = event
        self._trailers = trailers

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._passed < self._left and not self._protocol.is_terminal(chunk.data):
            self._passed += 1
            yield Send(chunk.data)
        else:
            yield from self._fail()

    def finish(self) -> Iterable[Action]:
        yield from self._fail()

    def trailers(self, headers: Headers) -> Headers:
        return self._trailers or headers

    def _fail(self) -> Iterable[Action]:
        how = "error in the trailers" if self._trailers else "error event"
        self.effect = f"{how} after {self._passed} events"
        yield Send(self._protocol.edits.numbered(self._event, self._passed))
        yield Cut(clean=True)
