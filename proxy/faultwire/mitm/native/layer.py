"""One client's connection whose TLS and HTTP/1.1 are the core's.

It takes the place of all of mitmproxy's layers in the connection's handler, which goes on to read, to
write, to open connections and to call hooks. Nothing is yielded: what there is to do is done at once, in the
order in which both sides spoke.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import Layer
from mitmproxy.proxy.layers import modes

from faultwire import clock
from faultwire.mitm.compat import transports
from faultwire.mitm.compat.http1 import refused
from faultwire.mitm.flow.failed_handshakes import host_of
from faultwire.mitm.messages import error_responses
from faultwire.mitm.native.exchange import NativeExchange
from faultwire.mitm.native.lean import take_over
from faultwire.mitm.native.reading import MALFORMED
from faultwire.mitm.native.upstream import Upstream

if TYPE_CHECKING:
    from mitmproxy.connection import Connection, Server

    from faultwire import _core
    from faultwire.mitm.flow.gateway import Gateway

BEHIND = 64 * 1024
"""Bytes of requests that wait for the exchange before them, from which on the client is not read."""


_END = (False, ("end",))


class NativeLayer(Layer):
    """Between the handler of a client's connection, the tunnel in the core, and one exchange at a time."""

    def __init__(
        self,
        context: Context,
        gateway: Gateway,
        tunnel: _core.Tunnel,
        *,
        tls: bool,
        lean: bool = False,
        handler: Any = None,
    ) -> None:
        own = Context(context.client, context.options)
        own.server = context.server
        super().__init__(own)
        self.client, self.target = context.client, context.server
        self.gateway, self.tunnel, self.tls = gateway, tunnel, tls
        self.handler: Any = handler or transports.handler_of(context.client)
        self.changed = gateway.reverse.changed_answers(context.client.id)
        self._takes = ("http://", "/") if gateway.reverse else ("http://",)
        """How targets begin that a client may ask the proxy itself for."""
        self.upstream = Upstream(self)
        self.exchange: NativeExchange | None = None
        self._words: deque[tuple[bool, tuple[Any, ...]]] = deque()
        self._reads = False
        self._held = False
        self._open, self._closed = not tls, False
        self._lean = lean
        self._back: Layer | None = None
        """Who serves the client, once it was handed back."""
        self._left: frozenset[Connection] = frozenset()

    # ------------------------------------------------------------ events of the handler

    def handle_event(self, event: events.Event) -> Any:
        """Called by the handler; gives no commands."""
        return self._handle_event(event)

    def _handle_event(self, event: events.Event) -> Any:
        if self._back is not None:
            return () if getattr(event, "connection", None) in self._left else self._back.handle_event(event)
        if isinstance(event, events.DataReceived):
            self._take_over(event.connection)  # it came through a stream
            self.receive(event.connection, event.data)
            return ()
        if isinstance(event, events.ConnectionClosed):
            if event.connection is self.client:
                self._client_ended()
            else:
                self.upstream.ended(event)
        elif isinstance(event, events.OpenConnectionCompleted):
            if event.reply is None:
                self._take_over(event.command.connection)
            self.upstream.connected(event)
        elif isinstance(event, events.HookCompleted | events.Wakeup):
            if self.exchange is not None:
                self.exchange.resume(event)
        elif isinstance(event, events.Start):
            self.handler.layer = self
        self.flush()
        return ()

    def receive(self, connection: Connection, data: bytes) -> None:
        """Bytes came from one side."""
        if self._back is not None:
            self.handler._carry(events.DataReceived(connection, data))
            return
        if connection is self.client:
            self.say(self.tunnel.receive(data, server=False), server=False)
        else:
            self.upstream.receive(connection, data)
        self.flush()

    def _take_over(self, connection: Connection) -> None:
        """Read a socket without a task from here on, once what its stream holds has been read."""
        if self._lean:
            asyncio.get_running_loop().call_soon(take_over, self, connection)

    def flush(self) -> None:
        """Write what there is to write."""
        if (data := self.tunnel.take(server=False)) is not None:
            self.write(self.client, data)
        self.upstream.flush()
        behind = self.exchange is not None and self.tunnel.pending(server=False) > BEHIND
        if behind is not self._held:
            self._held = behind
            (self.handler.hold if behind else self.handler.let_go)(self.client)

    def write(self, connection: Connection, data: bytes) -> None:
        """Write bytes as they are."""
        transport = self.handler.transports.get(connection)
        if transport is not None and transport.writer is not None and not transport.writer.is_closing():
            transport.writer.write(data)

    @property
    def has_whole_request(self) -> bool:
        """Has the request that is being taken come to its end?"""
        return bool(self._words) and self._words[-1] == _END

    # ------------------------------------------------------------ what both sides say

    def say(self, words: list[tuple[Any, ...]], *, server: bool) -> None:
        """Take what one side has said; what it leads to is taken up behind it."""
        self._words.extend([(server, word) for word in words])
        if self._reads:
            return
        self._reads = True
        try:
            while self._words:
                by_server, word = self._words.popleft()
                if by_server:
                    self.upstream.take(word)
                elif not self._closed:
                    self._take(word)
        finally:
            self._reads = False

    def _take(self, word: tuple[Any, ...]) -> None:
        kind = word[0]
        if kind == "head":
            self._begin(word)
        elif kind == "data" or kind == "trailers" or kind == "end":
            if self.exchange is not None:
                self.exchange.take_request(word)
        elif kind == "raw":
            if self.exchange is not None:
                self.exchange.switched(self.client, word[1])
        elif kind == "open":
            self._established()
        elif kind == "flaw":
            self._flawed(word[1], word[2])
        elif kind == "closed":
            self._client_ended()
        elif kind == "failed":
            self._failed(word[1])

    def _begin(self, word: tuple[Any, ...]) -> None:
        if self.target.address is None and not word[2].startswith(self._takes):
            self._hand_back(word)
            return
        exchange = self.exchange = NativeExchange(self)
        why = exchange.begin(word)
        if why is not None:
            self.exchange = None
            self._refuse(400, why, "faultwire_malformed")

    def _hand_back(self, word: tuple[Any, ...]) -> None:
        """A client of the proxy that has asked for `http` URLs asks for something else: a CONNECT, say. From
        here on mitmproxy serves it, as if it had just connected."""
        if list(self._words) != [_END]:
            self._refuse(400, f"{MALFORMED}its target is no `http` URL", "faultwire_malformed")
            return
        self._words.clear()
        self.flush()  # what mitmproxy writes comes behind the answers that were given
        self.upstream.close()
        self._left = frozenset(self.handler.transports) - {self.client}  # their ends are nothing to it
        data = word[6] + bytes(self.tunnel.rest(server=False))
        self._back = modes.HttpProxy(Context(self.client, self.context.options))
        self.handler._carry(events.Start())
        self.handler._carry(events.DataReceived(self.client, data))

    def over(self) -> None:
        """The exchange is over, and the connection stays: the next request may come."""
        self.exchange = None
        self.say(self.tunnel.next(server=False), server=False)

    def _established(self) -> None:
        self._open = True
        self.client.timestamp_tls_setup = clock.utc_now().timestamp()
        self.client.tls = True
        self.gateway.step(self.client)
        self.gateway.connection(self.client).tls_host = host_of(self.context)

    def _failed(self, why: str) -> None:
        if self._open:  # as by mitmproxy, what follows is not looked at; the client is about to leave
            return
        link = self.gateway.connection(self.client)
        self.gateway.handshakes.fail(link, self.client, host_of(self.context), why)
        tunnel = self.gateway.tunnels.of(self.client)
        if tunnel is not None:
            tunnel.left("cut", "the handshake failed")
        self.close_client(clean=False)

    # ------------------------------------------------------------ ends

    def _flawed(self, kind: str, text: str) -> None:
        if kind == "body":
            problem = f"HTTP/1 protocol error: {text}"
            if self.exchange is not None:
                self.exchange.client_failed(problem)
            self.close_client(clean=False)
        elif kind == "large":
            self._refuse(431, "the request head is larger than 64 KiB", "faultwire_refused")
        else:
            self._refuse(400, f"{MALFORMED}{text}", "faultwire_malformed")

    def _refuse(self, status: int, message: str, kind: str) -> None:
        self.tunnel.send(refused(error_responses.Refusal(status, kind, message)), server=False)
        self.gateway.malformed(self.client)
        self.close_client()

    def _client_ended(self) -> None:
        """The client has ended its side, or its TLS; that of a handshake is a failure."""
        if self._closed:
            return
        if not self._open:
            self._failed("connection closed")
            return
        if self.tunnel.pending(server=False):  # part of a head
            self.gateway.connection(self.client).spoke()
        exchange = self.exchange
        if exchange is not None and exchange.socket is not None:
            exchange.socket_ended(self.client)
            return
        for word in self.tunnel.finish(server=False):
            if word[0] == "flaw":
                self._flawed(word[1], word[2])
        if exchange is not None and not self._closed:
            exchange.client_failed("Client disconnected.")
        self.close_client()

    def close_client(self, *, clean: bool = True) -> None:
        """End the client's connection behind all that was sent; `clean`: its TLS too."""
        if self._closed:
            return
        self._closed = True
        if clean:
            self.tunnel.close(server=False)
        self.flush()
        self.close(self.client)

    def close(self, connection: Connection) -> None:
        """End a connection."""
        if connection in self.handler.transports:
            self.handler.close_connection(connection)

    def open(self, server: Server) -> commands.OpenConnection:
        """Begin to open a connection."""
        command = commands.OpenConnection(server)
        self.handler._other(command)
        return command
