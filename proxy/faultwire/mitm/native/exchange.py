"""The port of one exchange: what its driver gives is carried out on a tunnel.

What is written is what mitmproxy's HTTP/1 layers write, head for head and chunk for chunk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

from mitmproxy import http
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import GetHttpConnection, SendHttp
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
from mitmproxy.websocket import WebSocketData

from faultwire.mitm import compat
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook
from faultwire.mitm.flow.driver import ExchangeDriver
from faultwire.mitm.flow.stream_state import Commands, Ended, RequestPhase, ResponsePhase, StreamState
from faultwire.mitm.flow.websocket import WebSocketLayer
from faultwire.mitm.native.reading import MALFORMED, place_by_itself, read_target
from faultwire.mitm.native.roles import STREAM
from faultwire.mitm.native.writing import MessageWriter, ends_connection
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from mitmproxy.connection import Connection
    from mitmproxy.proxy.layers.http._base import HttpEvent

    from faultwire.mitm.native.roles import ClientSide

WEBSOCKET_VERSION = "13"

_numbers = count(1)


class NativeExchange:
    """One exchange of a native connection."""

    def __init__(self, layer: ClientSide) -> None:
        self.layer = layer
        self.state = StreamState(_context(layer), STREAM, layer.gateway)
        self.driver = ExchangeDriver(
            self.state, finish=self._finish, killed=self._killed, upgrade=self._upgrade
        )
        self.socket: WebSocketLayer | None = None
        self._to_client, self._changed = MessageWriter(), layer.changed
        self._answer: http.Response | None = None
        """The head that the client was sent last."""
        self._queue: deque[events.Event] = deque()
        self._running: Generator[commands.Command, Any, None] | None = None
        self._waits_for: commands.Command | None = None
        self._request_read = self._response_sent = self._over = False

    def begin(self, word: tuple[Any, ...]) -> str | None:
        """A request head has been read; why it is refused, if it is no request for this connection."""
        _, method, target, version, fields, bodiless, written = word
        layer = self.layer
        if method == "CONNECT":
            return f"{MALFORMED}there is a tunnel already"
        try:
            request = read_target(method, target, version, fields, written)
            if layer.target.address is None:
                place_by_itself(request)
            else:
                request.data.host, request.data.port = layer.target.address[:2]
                request.data.scheme = b"https" if layer.tls else b"http"
        except ValueError as error:
            return str(error)
        flow = self.state.flow = _flow(layer)
        flow.request, flow.live = request, True
        self.state.whole = layer.has_whole_request
        self.handle(RequestHeaders(STREAM, request, bodiless))
        return None

    # ------------------------------------------------------------ events

    def take_request(self, word: tuple[Any, ...]) -> None:
        """Data, trailers or the end of the request."""
        kind = word[0]
        if kind == "data":
            self.handle(RequestData(STREAM, word[1]))
        elif kind == "trailers":
            self.handle(RequestTrailers(STREAM, _fields(word[1])))
        else:
            self.handle(RequestEndOfMessage(STREAM))
            self._request_read = True
            self._next()

    def client_failed(self, problem: str) -> None:
        """The client has left, or broke the protocol."""
        self.handle(RequestProtocolError(STREAM, problem, compat.CANCEL))

    def handle(self, event: events.Event) -> None:
        """Give an event to the driver, behind those before it."""
        if self._over:
            return
        self.driver.note(event)
        if self._running is not None:
            self._queue.append(event)
            return
        self._run(self.driver.handle(event))
        self._drain()

    def resume(self, event: events.Event) -> None:
        """A hook is done, or a time is over."""
        if self.socket is not None:
            self._carry_all(self.socket.handle_event(event))
        elif isinstance(event, events.Wakeup):
            self.handle(event)
        elif isinstance(event, events.HookCompleted) and event.command is self._waits_for:
            self.reply(None)

    def reply(self, value: Any) -> None:
        """What the driver waits for is there."""
        running, self._waits_for = self._running, None
        if running is not None:
            self._go_on(running, value)
            self._drain()

    def _run(self, found: Commands) -> None:
        if type(found) is tuple:
            for command in found:
                self._carry(command)
            return
        guarded = self.driver.guarded(found)
        assert isinstance(guarded, Generator)
        self._go_on(guarded, None)

    def _go_on(self, running: Generator[commands.Command, Any, None], value: Any) -> None:
        self._running = running
        try:
            while True:
                command = running.send(value)
                done, value = self._carry(command)
                if not done:
                    self._waits_for = command
                    return
        except StopIteration:
            self._running = None

    def _drain(self) -> None:
        while self._running is None and self._queue:
            self._run(self.driver.handle(self._queue.popleft()))

    # ------------------------------------------------------------ commands

    def _carry(self, command: commands.Command) -> tuple[bool, Any]:
        """Carry a command out: is it done, and what is its reply?"""
        layer = self.layer
        if type(command) is SendHttp:
            if command.connection is layer.client:
                self._send_client(command.event)
            else:
                layer.upstream.send(command.event)
        elif isinstance(command, GetHttpConnection):
            found = layer.upstream.get(command.address, tls=command.tls)
            return found is not None, found
        elif isinstance(command, FaultwireWaitHook | FaultwireResetHook):
            layer.flush()
            done = layer.handler._run_hook(command)
            return bool(done or self.socket is not None), None  # a socket waits by itself
        elif isinstance(command, commands.SendData):
            layer.tunnel.send(command.data, server=command.connection is not layer.client)
        elif isinstance(command, commands.CloseConnection):
            self._close(command.connection)
        elif isinstance(command, commands.RequestWakeup):
            layer.handler._other(command)
        return True, None  # what is left are hooks that nobody has, and notes of mitmproxy's

    def _carry_all(self, found: Iterable[commands.Command]) -> None:
        try:
            for command in found:
                self._carry(command)
        except Exception as error:  # noqa: BLE001 - fails closed, as the driver does
            state = self.state
            state.gateway.failed(self.layer.client, state.recorded, error, None)
            self._over = True
            self.layer.close_client(clean=False)
            self.layer.upstream.close()

    def _close(self, connection: Connection) -> None:
        if connection is self.layer.client:
            self.layer.close_client(clean=False)
        else:
            self.layer.upstream.close()

    def _send_client(self, event: HttpEvent) -> None:
        if self._changed is None:
            self._write(event)
            return
        for changed in self._changed.events(event):
            self._write(changed)

    def _write(self, event: HttpEvent) -> None:
        layer, writer = self.layer, self._to_client
        if isinstance(event, ResponseData):
            data = writer.data(event.pieces if type(event) is compat.ResponsePieces else (event.data,))
        elif isinstance(event, ResponseHeaders):
            self._answer = event.response
            data = writer.head(event.response)
        elif isinstance(event, ResponseTrailers):
            writer.trailers = event.trailers
            return
        elif isinstance(event, ResponseEndOfMessage):
            data = b"" if self.state.flow.request.method == "HEAD" else writer.end()
        else:
            assert isinstance(event, ResponseProtocolError)
            layer.close_client(clean=False)
            return
        if data:
            layer.tunnel.send(data, server=False)
        if isinstance(event, ResponseEndOfMessage) and self.socket is None:
            self._response_sent = True
            self._next()

    # ------------------------------------------------------------ the end of it

    def _next(self) -> None:
        """Once request and response are over: the next one, or the end of the connection."""
        if not (self._request_read and self._response_sent) or self._over or self.socket is not None:
            return
        self._over = True
        if self._answer is not None and ends_connection(self.state.flow.request, self._answer):
            self.layer.close_client()
        else:
            self.layer.over()

    def _finish(self) -> Commands:
        """Request and response are over, or the exchange becomes a WebSocket."""
        flow = self.state.flow
        assert flow.response is not None
        if flow.websocket is not None:
            return self._open_websocket()
        flow.live = False
        if self.driver.writer.all_sent:
            return ()
        if flow.response.status_code == framing.SWITCHING:
            self.state.fail()
            return (commands.CloseConnection(self.layer.client),)
        return (SendHttp(ResponseEndOfMessage(STREAM), self.layer.client),)

    def _killed(self) -> Ended:
        """Nobody else sees the flow, and can end it."""
        yield from ()
        return False

    # ------------------------------------------------------------ another protocol

    def _upgrade(self) -> Commands:
        """Send the 101 that stands in the flow."""
        state, flow = self.state, self.state.flow
        assert flow.response is not None
        upgrade = flow.response.headers.get("upgrade", "").lower()
        if upgrade == "websocket" and flow.request.headers.get("sec-websocket-version") == WEBSOCKET_VERSION:
            flow.websocket = WebSocketData()
        state.response = ResponsePhase.DONE
        yield SendHttp(ResponseHeaders(STREAM, flow.response, True), self.layer.client)
        if state.request is RequestPhase.DONE:
            yield from self._finish()

    def _open_websocket(self) -> Commands:
        state, layer = self.state, self.layer
        state.release_all()  # from here on the socket counts what it holds
        socket = self.socket = WebSocketLayer(state.context, state.flow, state.gateway, state.recorded)
        yield from socket.handle_event(events.Start())
        for connection, data in zip((layer.client, state.context.server), layer.tunnel.switch(), strict=True):
            if data:
                yield from socket.handle_event(events.DataReceived(connection, data))

    def switched(self, connection: Connection, data: bytes) -> None:
        """Bytes of a WebSocket."""
        if self.socket is not None:
            self._carry_all(self.socket.handle_event(events.DataReceived(connection, data)))

    def socket_ended(self, connection: Connection) -> None:
        """One end of a WebSocket has ended its connection."""
        if self.socket is not None:
            self._carry_all(self.socket.handle_event(events.ConnectionClosed(connection)))


def _context(layer: ClientSide) -> Context:
    """The connection's context, with a server of the exchange's own; `fork` and `copy` take far longer."""
    shared = layer.context
    context = Context.__new__(Context)
    context.client, context.options = shared.client, shared.options
    context.server, context.layers = shared.server, shared.layers
    return context


def _flow(layer: ClientSide) -> http.HTTPFlow:
    """A flow that no addon of others sees, so that nothing but these members is read of it; mitmproxy's own
    way to make one takes an identifier from the system's chance."""
    flow = http.HTTPFlow.__new__(http.HTTPFlow)
    flow.id = f"native-{next(_numbers)}"
    flow.client_conn, flow.server_conn = layer.client, layer.target
    flow.metadata, flow.is_replay, flow.timestamp_created = {}, None, 0.0
    return flow


def _fields(pairs: tuple[tuple[str, str], ...]) -> http.Headers:
    return http.Headers([(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs])
