"""The server's side of a native connection: one server at a time, asked for one exchange after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy import http
from mitmproxy.connection import Server
from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from faultwire.mitm import compat
from faultwire.mitm.flow import request_balance
from faultwire.mitm.native.openssl import OpenSsl
from faultwire.mitm.native.reading import read_response
from faultwire.mitm.native.roles import STREAM
from faultwire.mitm.native.writing import MessageWriter, ends_connection
from faultwire.wire.framing.split import SWITCHING

if TYPE_CHECKING:
    from mitmproxy.connection import Connection
    from mitmproxy.proxy import commands
    from mitmproxy.proxy.layers.http._base import HttpEvent

    from faultwire.mitm.native.roles import ClientSide, Exchange, Reply

    Address = tuple[str, int]

_OF_MESSAGES = frozenset(("head", "data", "trailers", "end"))


class Upstream:
    """Opens connections to a server, and carries requests and responses over the one that is open."""

    def __init__(self, layer: ClientSide) -> None:
        self.layer = layer
        self.server: Server | None = None
        self._opening: commands.OpenConnection | None = None
        self._handshakes = False
        self._openssl: OpenSsl | None = None
        self._asks: Exchange | None = None
        self._writer = MessageWriter()
        self._request: http.Request | None = None
        self._response: http.Response | None = None
        self._request_sent = self._response_read = False

    # ------------------------------------------------------------ connections

    def get(self, address: Address, *, tls: bool) -> Reply | None:
        """The open connection to this address; None where one has to be opened, whose reply comes later."""
        server = self.server
        if server is not None and (
            server.address != address or server.tls is not tls or not server.connected
        ):
            self.close()
            server = None
        if server is not None:
            return server, None
        self._open(address, tls=tls)
        return None

    def _open(self, address: Address, *, tls: bool, openssl: bool = False) -> None:
        layer = self.layer
        server = self.server = Server(address=address)
        server.tls = tls
        if tls:
            own = address == layer.target.address and layer.client.sni
            server.sni = own or address[0]
        self._openssl = OpenSsl(layer, server) if openssl else None
        self._opening = layer.open(server)

    def connected(self, event: events.OpenConnectionCompleted) -> None:
        """A connection is open, or is not to be had."""
        server = self.server
        if server is None or event.command is not self._opening:
            return
        self._opening = None
        if event.reply is not None:
            self.server = None
            self._answer(str(event.reply))
        elif self._openssl is not None:
            self.layer.tunnel.open_server(None)
            self._handshakes = True
            self._openssl.start()
        elif server.tls:
            self._handshakes = True
            try:
                self.layer.tunnel.open_server(server.sni)
            except ValueError:  # a name that the core takes for none
                self._again()
        else:
            self.layer.tunnel.open_server(None)
            self._answer(None)

    def _again(self) -> None:
        """TLS that the core does not do, or a certificate it does not take: OpenSSL has the last word."""
        server = self.server
        assert server is not None
        assert server.address is not None
        self.layer.gateway.stats.native_openssl += 1
        self.close()
        self._open(server.address[:2], tls=True, openssl=True)

    def established(self, problem: str | None) -> None:
        """The handshake is over."""
        self._handshakes = False
        self._answer(problem)

    def _answer(self, problem: str | None) -> None:
        server, exchange = self.server, self.layer.exchange
        if problem is not None:
            self.close()
        if exchange is not None:
            exchange.reply((None, problem) if problem is not None else (server, None))

    def close(self) -> None:
        """End the connection; what the server still says is not looked at."""
        server, self.server, self._asks = self.server, None, None
        self._handshakes = False
        if server is not None:
            self.flush(server)
            self._openssl = None
            self.layer.close(server)

    # ------------------------------------------------------------ bytes

    def receive(self, connection: Connection, data: bytes) -> None:
        """Bytes came from a server."""
        if connection is not self.server:
            return
        if self._openssl is not None:
            self._openssl.handle(events.DataReceived(connection, data))
        else:
            self.plain(data)

    def plain(self, data: bytes) -> None:
        """The same for the core, which reads the HTTP in them."""
        server = self.server
        self.layer.say(self.layer.tunnel.receive(data, server=True), server=True)
        if self.server is not server:  # the next request goes to another one already
            return
        if self._asks is None and not self._handshakes and self.layer.tunnel.pending(server=True):
            self.close()  # it speaks out of turn

    def flush(self, server: Server | None = None) -> None:
        """Write what there is to write."""
        server = server or self.server
        if server is None:
            return
        data = self.layer.tunnel.take(server=True)
        if data is None:
            return
        if self._openssl is not None:
            self._openssl.send(data)
        else:
            self.layer.write(server, data)

    # ------------------------------------------------------------ requests

    def send(self, event: HttpEvent) -> None:
        """Write part of a request, and count the requests in what is written."""
        writer = self._writer
        if isinstance(event, RequestHeaders):
            self._request, self._response = event.request, None
            self._request_sent = self._response_read = False
            self._asks = self.layer.exchange
            self._write(writer.head(event.request))
            to_head = event.request.method == "HEAD"
            self.layer.say(self.layer.tunnel.next(server=True, to_head=to_head), server=True)
        elif self._asks is None or self._asks is not self.layer.exchange:
            return
        elif isinstance(event, RequestData):
            self._write(writer.data((event.data,)))
        elif isinstance(event, RequestTrailers):
            writer.trailers = event.trailers
        elif isinstance(event, RequestEndOfMessage):
            self._write(writer.end())
            self._request_sent = True
            self._settle()
        else:
            self.close()

    def _write(self, data: bytes) -> None:
        if not data:
            return
        begun = self.layer.tunnel.send(data, server=True)
        if begun:
            layer, asks = self.layer, self._asks
            recorded = asks.state.recorded if asks is not None and asks.state.begun else None
            sessions = layer.gateway.connection(layer.client).sessions
            request_balance.written(recorded, sessions, begun)

    # ------------------------------------------------------------ responses

    def take(self, word: tuple[Any, ...]) -> None:
        """What a server has said."""
        kind, asks = word[0], self._asks
        if kind in _OF_MESSAGES:
            if asks is not None:
                self._of_message(asks, kind, word)
        elif kind == "open":
            self.established(None)
        elif kind == "closed":
            self.finished()
        elif kind == "raw":
            if asks is not None and self.server is not None:
                asks.switched(self.server, word[1])
        elif kind == "flaw":
            self._flawed(word[1], word[2])
        elif kind == "failed":
            self._failed(word[1])

    def _failed(self, why: str) -> None:
        if self._handshakes:
            self._again()
        else:
            self._lost(f"TLS error: {why}")

    def _of_message(self, asks: Exchange, kind: str, word: tuple[Any, ...]) -> None:
        if kind == "head":
            self._head(asks, word)
        elif kind == "data":
            asks.handle(ResponseData(STREAM, word[1]))
        elif kind == "trailers":
            fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in word[1]]
            asks.handle(ResponseTrailers(STREAM, http.Headers(fields)))
        else:
            self._response_read = True
            if self._response is None or self._response.status_code != SWITCHING:
                self._settle()  # ready first: the next request may be there already
            asks.handle(ResponseEndOfMessage(STREAM))

    def _head(self, asks: Exchange, word: tuple[Any, ...]) -> None:
        _, status, version, reason, fields, bodiless, _ = word
        self._response = read_response(status, version, reason, fields)
        asks.handle(ResponseHeaders(STREAM, self._response, bodiless))

    def _settle(self) -> None:
        """Once request and response are over: keep the connection, or end it."""
        request, response = self._request, self._response
        if not (self._request_sent and self._response_read) or request is None or response is None:
            return
        self._asks = None
        # What it has said beyond its response is no answer to a request that it has not had yet.
        if ends_connection(request, response) or self.layer.tunnel.pending(server=True):
            self.close()

    # ------------------------------------------------------------ ends

    def _flawed(self, kind: str, text: str) -> None:
        if kind == "body":
            self._lost(f"HTTP/1 protocol error: {text}")
        else:
            self._lost(f"the response head is malformed: {text}")

    def _lost(self, problem: str) -> None:
        asks = self._asks
        self.close()
        if asks is not None:
            asks.handle(ResponseProtocolError(STREAM, problem, compat.BAD_GATEWAY))

    def ended(self, event: events.ConnectionClosed) -> None:
        """A server has ended its connection."""
        if event.connection is not self.server:
            return
        if self._openssl is not None:
            self._openssl.handle(event)
        elif self._handshakes:
            self.established("connection closed")
        else:
            self.finished()

    def finished(self) -> None:
        """It says nothing more: the response that was read is whole, or is not."""
        asks, tunnel = self._asks, self.layer.tunnel
        if asks is not None and asks.socket is not None and self.server is not None:
            asks.socket_ended(self.server)
            return
        if asks is None:
            self.close()
            return
        words = tunnel.finish(server=True)
        if words:
            self.layer.say(words, server=True)
        else:
            rest = bytes(tunnel.rest(server=True))
            self._lost(f"unexpected server response: {rest!r}" if rest else "server closed connection")
