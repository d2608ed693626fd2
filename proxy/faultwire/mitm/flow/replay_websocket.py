"""A WebSocket whose server is a tape: it sends each recorded message once the client has sent its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import events

from faultwire.mitm.compat.websocket import ABNORMAL, LOST, Closed, ReceivedMessage
from faultwire.mitm.flow.websocket import WebSocketLayer

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.compat.websocket import Control
    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.flow.websocket import Commands, Direction
    from faultwire.replay.script import Script

DIVERGED = 1008
"""RFC 6455 §7.4.1: a message that violates a policy; here, that it is the recorded one."""


class ReplayWebSocket(WebSocketLayer):
    """A relay between a client and a `Script`. Nothing is ever sent to a server."""

    def __init__(
        self,
        context: Context,
        flow: http.HTTPFlow,
        gateway: Gateway,
        recorded: RecordedExchange,
        script: Script,
    ) -> None:
        super().__init__(context, flow, gateway, recorded)
        self._script = script

    def _handle_event(self, event: events.Event) -> Commands:
        yield from self._apart(super()._handle_event(event))
        if isinstance(event, events.Start):
            yield from self._apart(self._send_recorded())

    def _apart(self, inner: Commands) -> Commands:
        """All commands but those to the server that is not there."""
        reply: Any = None
        while True:
            try:
                command = inner.send(reply)
            except StopIteration:
                return
            reply = None
            if getattr(command, "connection", None) is not self.context.server:
                reply = yield command

    def _take(self, lane: Direction, event: ReceivedMessage | Control | Closed) -> Commands:
        yield from super()._take(lane, event)
        if lane.by != "client" or self._over:
            return
        if isinstance(event, ReceivedMessage):
            why = self._script.received(event.data, text=event.text)
            if why is not None:
                yield from self._close(DIVERGED, why)
                return
        elif isinstance(event, Closed):
            self._script.closed()
        yield from self._send_recorded()

    def _send_recorded(self) -> Commands:
        """All that the server sent next."""
        for message in self._script.due():
            if self._over:
                return
            event: ReceivedMessage | Closed
            if message.kind != "close":
                event = ReceivedMessage(message.data, message.kind == "text")
            elif message.code == ABNORMAL:
                event = LOST
            else:
                event = Closed(message.code or ABNORMAL, message.data.decode("utf-8", "replace"), "frame")
            yield from self._take(self._lanes["server"], event)
