"""One HTTP exchange inside mitmproxy, carrying out what its pipeline asks for on a live stream.

`FaultStream` takes over mitmproxy's stream state machine from the point where a request head has been
validated, and is the port that carries out what a `driver` gives. It hands it its events and runs everything
in one wrapper: an exception in our code refuses the exchange and voids the run, it never lets traffic pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http import (
    DropStream,
    GetHttpConnection,
    GetHttpConnectionCompleted,
    HttpLayer,
    HttpStream,
    SendHttp,
)
from mitmproxy.proxy.layers.http._events import (
    RequestHeaders,
    RequestProtocolError,
    ResponseEndOfMessage,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._hooks import HttpRequestHeadersHook

from faultwire.mitm import compat
from faultwire.mitm.compat import transports
from faultwire.mitm.flow import request_balance
from faultwire.mitm.flow.driver import ExchangeDriver
from faultwire.mitm.flow.stream_state import RequestPhase, ResponsePhase, StreamState
from faultwire.mitm.flow.websocket import WebSocketLayer
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mitmproxy.connection import Connection
    from mitmproxy.proxy import commands
    from mitmproxy.proxy.context import Context
    from mitmproxy.proxy.layer import Layer

    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.stream_state import Commands, Ended

    Running = Generator[commands.Command, Any, None]


class FaultLayer(HttpLayer):
    """mitmproxy's HTTP layer with our streams in it, and its client side with a limit on heads."""

    gateway: Gateway

    def _handle_event(self, event: events.Event) -> Any:
        if isinstance(event, events.Start) and self.context.client.alpn != b"h2":
            server = compat.BoundedHttp1Server(self.context.fork())
            self.gateway.attend(server, self.context.client)
            self.connections.setdefault(self.context.client, server)
        stock = super()._handle_event
        self._handle_event = stock  # type: ignore[method-assign]  # only the start is ours
        return stock(event)

    def head_refused(self) -> None:
        """A request head was refused before it was an exchange."""
        self.gateway.malformed(self.context.client)

    def head_pending(self, number: int) -> None:
        """The header block of this number has begun in HTTP/2, and nothing else can come before its end
        (RFC 9113 §4.3); 0 where none has."""
        handler = transports.handler_of(self.context.client)
        if hasattr(handler, "await_block"):
            handler.await_block(number)

    def flooded(self, why: str) -> None:
        """The client's connection was ended because it asked too much of us."""
        self.gateway.stats.flooded += 1
        self.gateway.cut_off(self.context.client, why)

    def stall_s(self) -> float | None:
        """How long bodies of this client's requests shall stand still once their window is full, if so."""
        tunnel = self.gateway.tunnels.of(self.context.client)
        return tunnel.stall_s() if tunnel is not None else None

    def body_stalled(self) -> None:
        """A request's body did stand still."""
        tunnel = self.gateway.tunnels.of(self.context.client)
        if tunnel is not None:
            tunnel.stalled()

    def requests_written(self, stream_id: int, count: int) -> None:
        """So many requests were written to a server for this stream."""
        stream: Any = self.streams.get(stream_id)
        state = getattr(stream, "_state", None)
        recorded = state.recorded if state is not None and state.begun else None
        request_balance.written(recorded, self.gateway.connection(self.context.client).sessions, count)

    def get_connection(self, event: GetHttpConnection, *, reuse: bool = True) -> Any:
        """A connection for a stream. Of HTTP/1 servers a client of HTTP/2 gets one again on which nothing is
        under way; mitmproxy opens one for every request."""
        if isinstance(event, compat.NewHttpConnection):
            return super().get_connection(event, reuse=False)
        if self.context.client.alpn == b"h2":
            for connection, layer in self.connections.items():
                if event.connection_spec_matches(connection) and self._serves_again(connection, layer):
                    stream = self.command_sources.pop(event)
                    return self.event_to_child(stream, GetHttpConnectionCompleted(event, (connection, None)))
        return super().get_connection(event, reuse=reuse)

    def _serves_again(self, connection: Connection, layer: Layer) -> bool:
        """Is nothing under way on a connection to an HTTP/1 server, and has the server not ended it? Its end
        may have come already, and not been read."""
        return compat.is_free(connection, layer) and transports.is_quiet(self.context.client, connection)

    def withhold(self, connection: Connection, stream_id: int) -> None:
        """Let an HTTP/2 server send no more in this stream than it may already, until `ReadOn`."""
        layer: Any = self.connections.get(connection)
        if layer is not None:
            layer.context.layers[-1].withhold(stream_id)

    def make_stream(self, stream_id: int) -> Any:
        """Called by mitmproxy for every request head."""
        self.streams[stream_id] = FaultStream(self.context.fork(), stream_id, self.gateway)
        return ()  # ours have nothing to do at their start


class FaultStream(HttpStream):
    """mitmproxy's stream, made of our parts."""

    def __init__(self, context: Context, stream_id: int, gateway: Gateway) -> None:
        super().__init__(context, stream_id)
        state = self._state = StreamState(context, stream_id, gateway)
        driver = self._driver = ExchangeDriver(
            state, finish=self.flow_done, killed=self._killed, upgrade=self._upgrade
        )
        self._handlers: dict[type[events.Event], Callable[[Any], Commands]] = {
            **driver.handlers,
            RequestHeaders: self._head,
        }
        self._running: Commands | None = None

    # ------------------------------------------------------------ the wrapper

    def handle_event(self, event: events.Event) -> Any:
        """mitmproxy's entry; while a fault lets time pass, events queue up behind it.

        Commands that are known go back as they are. Where something is waited for, mitmproxy's own machinery
        runs the generator.
        """
        kind = type(event)
        self._driver.note(event)
        if self._paused is None and (handler := self._handlers.get(kind)) is not None:
            try:
                found = handler(event)
            except Exception as error:  # noqa: BLE001 - ours fails closed
                found = self._driver.fail(error)
            if type(found) is tuple:
                return found
            self._running = found
        return super().handle_event(event)

    def _handle_event(self, event: events.Event) -> Running:
        """Runs what `handle_event` has found, or an event that was queued."""
        running, self._running = self._running, None
        try:
            if running is None:
                running = self._handlers.get(type(event), self._unhandled)(event)
            yield from running
        except Exception as error:  # noqa: BLE001 - ours fails closed
            yield from self._driver.fail(error)

    # ------------------------------------------------------------ what is mitmproxy's own

    def _head(self, event: RequestHeaders) -> Commands:
        """mitmproxy checks the head and finds the target; from there on it is ours."""
        stock = self.state_wait_for_request_headers(event)
        if event.request.method == "CONNECT":
            self._handlers = {}
            return self._tunnel(stock)
        try:
            first = next(stock, None)
        finally:
            self._state.flow = self.flow
        if self._checked(first) and not self._state.gateway.stock_hooks:
            stock.close()
            return self._driver.reader.head(event)
        return self._head_shown(first, stock, event)

    def _checked(self, command: commands.Command | None) -> bool:
        return isinstance(command, HttpRequestHeadersHook) and self.flow.error is None

    def _head_shown(
        self, command: commands.Command | None, stock: Running, event: RequestHeaders
    ) -> Commands:
        """The same where other addons see the head, or mitmproxy refuses it with 400."""
        while command is not None:
            yield command
            if self._checked(command):
                stock.close()
                if not (yield from self._killed()):
                    yield from self._driver.reader.head(event)
                return
            command = next(stock, None)
        self._state.fail()
        self._state.gateway.malformed(self.context.client)

    def _tunnel(self, stock: Running) -> Commands:
        yield from stock
        if self.flow.error is not None and not self._state.left:
            self._state.gateway.malformed(self.context.client)

    def _unhandled(self, event: events.Event) -> Commands:
        """An event of a tunnel that was not opened."""
        if isinstance(event, RequestProtocolError | ResponseProtocolError):
            return self.handle_protocol_error(event)
        return ()

    def _killed(self) -> Ended:
        """Has another addon ended this flow?"""
        killed: bool = yield from self.check_killed(True)
        if killed:
            self._state.fail()
        return killed

    def _upgrade(self) -> Commands:
        """Send the 101 that stands in the flow."""
        state = self._state
        whole = state.request is RequestPhase.DONE
        self.client_state = self.state_done if whole else self.state_uninitialized
        state.response = ResponsePhase.DONE
        yield from self.send_response()
        if self.server_state == self.state_errored:
            state.fail()

    def flow_done(self) -> Any:
        """Request and response are over, or the exchange becomes a WebSocket."""
        if self.flow.websocket is not None:
            return self._open_websocket()
        assert self.flow.response is not None
        if self._driver.writer.all_sent:
            self.flow.live = False
            return (DropStream(self.stream_id),)
        if self.flow.response.status_code == framing.SWITCHING:
            return super().flow_done()
        self.flow.live = False
        end = SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)
        return (DropStream(self.stream_id), end)

    # ------------------------------------------------------------ WebSocket

    def _open_websocket(self) -> Commands:
        state = self._state
        state.release_all()  # from here on the socket counts what it holds
        replay = self._driver.replay
        played = replay.websocket() if replay is not None else None
        self.child_layer = played or WebSocketLayer(self.context, self.flow, state.gateway, state.recorded)
        self._handlers = {}
        self._handle_event = self.state_websocket  # type: ignore[method-assign]
        yield from self.child_layer.handle_event(events.Start())
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)

    def state_websocket(self, event: events.Event) -> Running:
        """What comes from either end of a WebSocket; as with all of ours, a failure lets nothing pass."""
        try:
            yield from self.passthrough(event)
        except Exception as error:  # noqa: BLE001 - fails closed, as the wrapper of a stream does
            state = self._state
            state.gateway.failed(self.flow.client_conn, state.recorded, error, None)
            self._handle_event = self.state_errored  # type: ignore[method-assign, assignment]
            gone = ResponseProtocolError(self.stream_id, "failed", compat.KILL)
            yield SendHttp(gone, self.context.client)
            cancelled = RequestProtocolError(self.stream_id, "failed", compat.CANCEL)
            yield SendHttp(cancelled, self.context.server)
