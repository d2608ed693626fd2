"""The driver of one exchange: its parts, and the wrapper in which all of them run.

    RequestReader ─► Responder ─► ActionExecutor ─► ResponseWriter
          └──────► ReplaySource ──────┘

It takes the events of both sides (a head, data, trailers, an end, a failure) and gives commands: send these
to the client or to the server, get a connection, let time pass, reset. A port carries them out, and knows
nothing of faults: mitmproxy's HTTP layer is one (`flow.stream`), a tunnel in the core another (`native`). So
what a fault does is written down once. What the parts share is in a `StreamState`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from faultwire.mitm import compat
from faultwire.mitm.flow.actions import ActionExecutor
from faultwire.mitm.flow.request import RequestReader
from faultwire.mitm.flow.request_sender import RequestSender
from faultwire.mitm.flow.response import Responder
from faultwire.mitm.flow.response_writer import ResponseWriter
from faultwire.mitm.flow.stream_state import RequestPhase
from faultwire.mitm.messages import error_responses

if TYPE_CHECKING:
    from faultwire.mitm.flow.replay_source import ReplaySource
    from faultwire.mitm.flow.stream_state import Commands, Ended, StreamState


class ExchangeDriver:
    """The parts of one exchange. `finish` gives what ends it once request and response are over, `killed`
    asks whether another addon has ended the flow, `upgrade` makes it a WebSocket."""

    def __init__(
        self,
        state: StreamState,
        *,
        finish: Callable[[], Commands],
        killed: Callable[[], Ended],
        upgrade: Callable[[], Commands],
    ) -> None:
        self.state = state
        writer = self.writer = ResponseWriter(state, finish)
        executor = ActionExecutor(state, writer)
        responder = Responder(state, writer, executor, killed, upgrade)
        self.replay: ReplaySource | None = None
        if state.gateway.replays is not None:
            from faultwire.mitm.flow.replay_source import ReplaySource

            self.replay = ReplaySource(state, writer, executor, responder, state.gateway.replays)
        sender = RequestSender(state, writer)
        self.reader = RequestReader(state, writer, executor, responder, self.replay, killed, sender)
        self.responder = responder
        self._handlers: dict[type[events.Event], Callable[[Any], Commands]] | None = None

    @property
    def handlers(self) -> dict[type[events.Event], Callable[[Any], Commands]]:
        """Which part is asked about an event, for a port that wants to change or to hand on some of it."""
        if self._handlers is None:
            found = self._handlers = {}
            for kind, (part, name) in _PARTS.items():
                found[kind] = getattr(getattr(self, part), name)
        return self._handlers

    def note(self, event: events.Event) -> None:
        """An event came, which may have to wait behind others: what is known of it at once."""
        kind, state = type(event), self.state
        if kind in (ResponseHeaders, ResponseData) and state.begun and state.recorded.watch is not None:
            state.recorded.watch.note_data()
        elif type(event) is RequestData and state.begun and state.recorded.upload is not None:
            state.recorded.upload.received += len(event.data)
        elif kind is RequestEndOfMessage and state.begun and state.recorded.upload is not None:
            state.recorded.upload.stop()
        if kind is RequestProtocolError:
            state.leave()
        elif state.pause is not None and type(event) is ResponseData:
            state.hold_back(len(event.data))

    def handle(self, event: events.Event) -> Commands:
        """What is to be done about an event; where our code fails, what refuses the exchange."""
        try:
            if self._handlers is not None:
                return self._handlers[type(event)](event)
            part, name = _PARTS[type(event)]
            found: Commands = getattr(getattr(self, part), name)(event)
            return found
        except Exception as error:  # noqa: BLE001 - ours fails closed
            return self.fail(error)

    def guarded(self, running: Commands) -> Commands:
        """The same for commands that come one by one."""
        try:
            yield from running
        except Exception as error:  # noqa: BLE001 - ours fails closed
            yield from self.fail(error)

    def fail(self, error: Exception) -> Commands:
        """Our own code failed: refuse the exchange, and void the run."""
        state, refusal = self.state, error_responses.internal(error)
        answered = state.head_sent or state.request is RequestPhase.FAILED
        client = state.flow.client_conn
        state.gateway.failed(client, state.recorded, error, None if answered else refusal)
        if answered:
            yield from self.writer.hang_up("refused", refusal.message)
        else:
            yield from self.writer.cancel_upstream()
            state.request = RequestPhase.DONE
            yield from self.writer.answer(refusal.response(), "refused", refusal.message)


_PARTS: dict[type[events.Event], tuple[str, str]] = {
    RequestHeaders: ("reader", "head"),
    RequestData: ("reader", "data"),
    RequestTrailers: ("reader", "trailers"),
    RequestEndOfMessage: ("reader", "end"),
    ResponseHeaders: ("responder", "head"),
    ResponseData: ("responder", "data"),
    ResponseTrailers: ("responder", "trailers"),
    ResponseEndOfMessage: ("responder", "end"),
    RequestProtocolError: ("writer", "abandon"),
    events.Wakeup: ("reader", "stalled"),
    ResponseProtocolError: ("responder", "lost"),
    compat.Unanswered: ("responder", "lost"),
    compat.Unprocessed: ("responder", "lost"),
}
"""Which part is asked about an event, and by which method; made once, as every exchange has a driver."""

NOTED = frozenset((RequestData, RequestEndOfMessage, RequestProtocolError, ResponseHeaders, ResponseData))
"""The events of which `note` has something to know."""
