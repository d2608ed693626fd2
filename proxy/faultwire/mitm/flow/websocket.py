"""A WebSocket between its two ends: messages pass, or their pipeline acts on them.

Each direction is a lane of its own: while a fault lets one wait, the other one goes on. A wait here holds
neither a thread nor the layer (mitmproxy's `RequestWakeup`), what comes meanwhile stands in a queue, and
from some size on its sender is not read from any more.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mitmproxy import websocket
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.websocket import (
    WebsocketEndHook,
    WebsocketMessageHook,
    WebSocketMessageInjected,
    WebsocketStartHook,
)
from wsproto.frame_protocol import Opcode

from faultwire.events import Close, Cut, Send, Wait
from faultwire.mitm.compat.hooks import FaultwireResetHook, Hangup
from faultwire.mitm.compat.websocket import GOING_AWAY, LOST, TOO_BIG, Closed, Control, Peer, ReceivedMessage
from faultwire.mitm.flow.recorded_websocket import OTHER

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from mitmproxy import http
    from mitmproxy.proxy.context import Context

    from faultwire.events import Action, Side
    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.flow.recorded_websocket import PendingMessage

    Commands = Generator[commands.Command, Any, None]
    Ended = Generator[commands.Command, Any, bool]

LINGER_S = 1.0
"""How long the answer to a Close frame is waited for (RFC 6455 §7.1.1 leaves it open)."""

QUEUE_LIMIT = 512 * 1024
"""Bytes that may wait in one direction before its sender is held back."""

NORMAL = 1000


@dataclass
class Direction:
    """One direction, from `by`: what waits in it, and what is being done about the first of it."""

    by: Side
    queue: deque[tuple[ReceivedMessage, PendingMessage] | Closed] = field(default_factory=deque)
    actions: Iterator[Action] | None = None
    received: ReceivedMessage | None = None
    closed: Closed | None = None
    alarm: commands.RequestWakeup | None = None
    waits: bool = False
    held: int = 0
    throttled: bool = False


class WebSocketLayer(layer.Layer):
    """mitmproxy's place for a relay, with ours in it."""

    def __init__(
        self, context: Context, flow: http.HTTPFlow, gateway: Gateway, recorded: RecordedExchange
    ) -> None:
        super().__init__(context)
        self.flow = flow
        self._gateway = gateway
        self._recorded = recorded
        self._messages = recorded.websocket
        assert flow.response is not None
        extensions = flow.response.headers.get("sec-websocket-extensions", "")
        self._peers: dict[Side, Peer] = {
            "client": Peer(context.client, extensions, is_server=False),
            "server": Peer(context.server, extensions, is_server=True),
        }
        self._lanes: dict[Side, Direction] = {"client": Direction("client"), "server": Direction("server")}
        self._parting: commands.RequestWakeup | None = None
        self._ours = False
        self._over = False

    def _handle_event(self, event: events.Event) -> Commands:
        if self._over:
            return
        if isinstance(event, events.DataReceived):
            by = self._end_of(event)
            for event_ in self._peers[by].receive(event.data):
                yield from self._take(self._lanes[by], event_)
        elif isinstance(event, events.ConnectionClosed):
            yield from self._take(self._lanes[self._end_of(event)], LOST)
        elif isinstance(event, events.Wakeup):
            yield from self._wake(event.command)
        elif isinstance(event, WebSocketMessageInjected):
            message = event.message
            received = ReceivedMessage(message.content, message.is_text)
            yield from self._take(self._lanes["client" if message.from_client else "server"], received)
        elif isinstance(event, events.Start) and self._gateway.stock_hooks:
            yield WebsocketStartHook(self.flow)

    def _end_of(self, event: events.ConnectionEvent) -> Side:
        return "client" if event.connection is self.context.client else "server"

    # ------------------------------------------------------------ messages

    def _take(self, lane: Direction, event: ReceivedMessage | Control | Closed) -> Commands:
        if self._over:
            return
        if isinstance(event, ReceivedMessage):
            yield from self._take_message(lane, event)
        elif isinstance(event, Control):
            peer = self._peers[OTHER[lane.by]]
            if peer.open:
                yield commands.SendData(peer.connection, peer.control(event))
        elif lane.by == "client":  # nobody is left to wait for
            yield from self._closed(lane, event)
        else:
            lane.queue.append(event)
            if not lane.waits:
                yield from self._run(lane)

    def _take_message(self, lane: Direction, received: ReceivedMessage) -> Commands:
        self._gateway.stats.websocket_messages += 1
        if self._gateway.stock_hooks:
            changed = yield from self._shown(lane, received)
            if changed is None:
                return
            received = changed
        if self._parting is not None:  # RFC 6455 §5.5.1: what comes behind a Close may be dropped
            self._messages.received(lane.by, received.data, text=received.text)
            return
        if not self._recorded.touches:
            self._messages.passed(lane.by, received.data, text=received.text)
            yield from self._deliver(OTHER[lane.by], received.data, text=received.text, sizes=received.sizes)
            return
        lane.queue.append((received, self._messages.received(lane.by, received.data, text=received.text)))
        if lane.waits:
            self._hold(lane, len(received.data))
        else:
            yield from self._run(lane)

    def _shown(
        self, lane: Direction, received: ReceivedMessage
    ) -> Generator[commands.Command, Any, ReceivedMessage | None]:
        """Let the other addons of a stock mitmproxy see a message, change it or drop it."""
        assert self.flow.websocket is not None
        opcode = Opcode.TEXT if received.text else Opcode.BINARY
        message = websocket.WebSocketMessage(opcode, lane.by == "client", received.data)
        self.flow.websocket.messages[:] = [message]  # mitmproxy would keep them all
        yield WebsocketMessageHook(self.flow)
        if message.dropped:
            return None
        return (
            received if message.content == received.data else ReceivedMessage(message.content, received.text)
        )

    # ------------------------------------------------------------ lanes

    def _run(self, lane: Direction) -> Commands:
        """Go on with a lane until it is empty, or has to wait."""
        while not self._over and not lane.waits:
            if lane.actions is not None:
                yield from self._perform(lane, lane.actions)
            elif lane.closed is not None:
                yield from self._closed(lane, lane.closed)
                return
            elif lane.queue:
                self._begin(lane, lane.queue.popleft())
            else:
                return

    def _begin(self, lane: Direction, first: tuple[ReceivedMessage, PendingMessage] | Closed) -> None:
        if isinstance(first, Closed):
            lane.received, lane.closed = None, first
            if first.how != "broken" and self._recorded.touches and self._parting is None:
                lane.actions = self._messages.finish()
            return
        lane.received, pending = first
        self._release(lane, len(lane.received.data))
        lane.actions = self._messages.message(pending)

    def _perform(self, lane: Direction, actions: Iterator[Action]) -> Commands:
        for action in actions:
            if isinstance(action, Send):
                yield from self._send(lane, action)
            elif isinstance(action, Wait):
                if self._recorded.hurried:
                    continue
                lane.waits = True
                if action.seconds is not None:
                    lane.alarm = commands.RequestWakeup(action.seconds)
                    yield lane.alarm
                return
            else:
                yield from self._end(action)
                return
        lane.actions = None

    def _send(self, lane: Direction, action: Send) -> Commands:
        received = lane.received
        text = action.text if action.text is not None else received is None or received.text
        sizes = received.sizes if received is not None and received.data == action.data else ()
        yield from self._deliver(action.to, action.data, text=text, sizes=sizes, more=action.more)

    def _deliver(
        self, to: Side, data: bytes, *, text: bool, sizes: tuple[int, ...] = (), more: bool = False
    ) -> Commands:
        peer = self._peers[to]
        if peer.open:
            frames = peer.message(data, text=text, sizes=sizes, more=more)
            yield commands.SendData(peer.connection, frames)

    def _wake(self, alarm: commands.Command) -> Commands:
        if alarm is self._parting:
            yield from self._hang_up()
            return
        for lane in self._lanes.values():
            if lane.alarm is alarm:
                lane.alarm, lane.waits = None, False
                yield from self._run(lane)

    def _hold(self, lane: Direction, size: int) -> None:
        lane.held += size
        if lane.held > QUEUE_LIMIT and not lane.throttled:
            lane.throttled = True
            self._gateway.throttle(self.flow, paused=True, by=lane.by)

    def _release(self, lane: Direction, size: int) -> None:
        lane.held = max(0, lane.held - size)
        if lane.throttled and lane.held <= QUEUE_LIMIT // 2:
            lane.throttled = False
            self._gateway.throttle(self.flow, paused=False, by=lane.by)

    # ------------------------------------------------------------ ends

    def _closed(self, lane: Direction, closed: Closed) -> Commands:
        """One end has closed: pass that on as it is."""
        gone = f"{'client' if lane.by == 'client' else 'upstream'}_aborted"
        if closed.how == "frame":
            yield from self._close_frame(lane, closed)
        elif closed.how == "lost":
            if self._parting is None:
                self._messages.ended(lane.by, closed.code, "")
            self._recorded.end("complete" if self._parting is not None else gone)
            yield from self._hang_up()
        else:
            if closed.code == TOO_BIG:
                self._recorded.session.void(closed.reason)
            for peer in self._peers.values():
                if peer.may_close:
                    yield commands.SendData(peer.connection, peer.close(closed.code, ""))
            self._messages.ended(lane.by, closed.code, closed.reason, sent=False)
            self._recorded.end(gone, closed.reason)
            yield from self._hang_up()

    def _close_frame(self, lane: Direction, closed: Closed) -> Commands:
        peer = self._peers[OTHER[lane.by]]
        self._messages.ended(lane.by, closed.code, closed.reason, delivered=peer.may_close)
        if peer.may_close:
            yield commands.SendData(peer.connection, peer.close(closed.code, closed.reason))
        if self.flow.websocket is not None and self._parting is None:
            self.flow.websocket.closed_by_client = lane.by == "client"
            self.flow.websocket.close_code = closed.code
            self.flow.websocket.close_reason = closed.reason
        if self._ours or all(peer.done for peer in self._peers.values()):
            self._recorded.end("complete")
            yield from self._hang_up()
        elif self._parting is None:
            yield from self._part()

    def _part(self) -> Commands:
        self._parting = commands.RequestWakeup(LINGER_S)
        yield self._parting

    def _end(self, action: Action) -> Commands:
        """A fault ends the session."""
        if isinstance(action, Close) or action == Cut(clean=True):
            code, reason = (action.code, action.reason) if isinstance(action, Close) else (NORMAL, "")
            yield from self._close(code, reason)
        elif isinstance(action, Cut):
            self._recorded.end("cut")
            yield from self._hang_up()
        else:
            self._recorded.end("reset")
            yield FaultwireResetHook(Hangup(self.context.client))
            yield from self._hang_up()

    def _close(self, code: int, reason: str) -> Commands:
        """Close towards the client, and let its answer come before the connection ends."""
        client, server = self._peers["client"], self._peers["server"]
        if client.may_close:
            self._messages.ended("server", code, reason, sent=False)
            yield commands.SendData(client.connection, client.close(code, reason))
        if server.may_close:
            yield commands.SendData(server.connection, server.close(GOING_AWAY, ""))
        self._recorded.end("cut")
        self._ours, self._lanes["server"].waits = True, True
        if self._parting is None:
            yield from self._part()

    def _hang_up(self) -> Commands:
        self._over = True
        self._recorded.end("complete")  # unless another ending was recorded before
        for lane in self._lanes.values():
            self._release(lane, lane.held)
        for peer in self._peers.values():
            yield commands.CloseConnection(peer.connection)
        self.flow.live = False
        if self._gateway.stock_hooks:
            yield WebsocketEndHook(self.flow)
