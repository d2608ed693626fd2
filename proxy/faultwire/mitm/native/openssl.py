"""TLS to a server by OpenSSL, where the core's refused: mitmproxy's own layer, with a tunnel above it.

It takes static RSA, CBC and P-521, as far as mitmproxy's settings do; and what it says of a failure is what
the client gets.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layer import Layer

from faultwire.mitm.compat.tls import UpstreamTls

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from mitmproxy.connection import Server
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.native.roles import ClientSide


class _Above(Layer):
    """Hands what is plain to the tunnel. It asks for the connection, which is open: TLS begins."""

    def __init__(self, context: Context, layer: ClientSide) -> None:
        super().__init__(context)
        self._native = layer

    def _handle_event(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        if isinstance(event, events.Start):
            problem = yield commands.OpenConnection(self.context.server)
            self._native.upstream.established(problem)
        elif isinstance(event, events.DataReceived):
            self._native.upstream.plain(event.data)
        elif isinstance(event, events.ConnectionClosed):
            self._native.upstream.finished()


class OpenSsl:
    """One connection."""

    def __init__(self, layer: ClientSide, server: Server) -> None:
        self._native, self._server = layer, server
        context = layer.context.fork()
        context.server = server
        self._tls = UpstreamTls(context)
        self._tls.child_layer = _Above(context, layer)

    def start(self) -> None:
        """The connection is open: begin the handshake."""
        self._server.state = ConnectionState.CLOSED  # so that the layer asks for it, and says how that ended
        self._carry(self._tls.handle_event(events.Start()))

    def handle(self, event: events.Event) -> None:
        """Bytes of the server, or its end."""
        self._carry(self._tls.handle_event(event))

    def send(self, data: bytes) -> None:
        """Encrypt and write."""
        self._carry(self._tls.send_data(data))

    def _carry(self, found: Iterable[commands.Command]) -> None:
        layer = self._native
        replies: deque[events.Event] = deque()
        while True:
            for command in found:
                if isinstance(command, commands.SendData):
                    layer.write(self._server, command.data)
                elif isinstance(command, commands.CloseConnection):
                    layer.close(self._server)
                elif isinstance(command, commands.StartHook):
                    for handler in layer.handler._hooks[command.name]:
                        handler(*command.args())
                    replies.append(events.HookCompleted(command))
                elif isinstance(command, commands.OpenConnection):
                    self._server.state = ConnectionState.OPEN
                    replies.append(events.OpenConnectionCompleted(command, None))
            if not replies:
                return
            found = self._tls.handle_event(replies.popleft())
