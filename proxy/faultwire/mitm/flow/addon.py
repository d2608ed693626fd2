"""The addon: mitmproxy's hooks, each in one wrapper that fails closed.

It works in our own engine and, loaded by a script of `addons/`, in a stock mitmdump. The exchanges
themselves are handled in `stream`, inside the HTTP layer that `next_layer` puts in place.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mitmproxy import ctx
from mitmproxy.connection import Client, Server
from mitmproxy.proxy.layers import ClientTLSLayer, modes
from mitmproxy.proxy.layers.http import HttpLayer, HTTPMode

from faultwire.mitm import compat
from faultwire.mitm.compat import leaves, transports
from faultwire.mitm.flow import captured
from faultwire.mitm.flow.failed_handshakes import host_of
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.stream import FaultLayer
from faultwire.mitm.messages import convert, error_responses
from faultwire.mitm.network import broken_tls
from faultwire.mitm.network.ca_certificates import within
from faultwire.mitm.network.egress_guard import MARK
from faultwire.mitm.network.proxy_connection import CHAINED
from faultwire.mitm.sessions.shared_process import Shared

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mitmproxy import http, tls
    from mitmproxy.proxy import layer
    from mitmproxy.proxy.context import Context
    from mitmproxy.proxy.server_hooks import ServerConnectionHookData

    from faultwire.mitm.compat.hooks import Hangup, Pause

TLS_RECORD = 0x16


def fail_closed(hook: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The wrapper of every hook: an exception ends the connection and voids the run."""
    if inspect.iscoroutinefunction(hook):

        @functools.wraps(hook)
        async def awaited(addon: FaultwireAddon, data: Any) -> Any:
            try:
                return await hook(addon, data)
            except Exception as error:  # noqa: BLE001 - the purpose of this wrapper
                _close(addon, data, error)

        return awaited

    @functools.wraps(hook)
    def wrapped(addon: FaultwireAddon, data: Any) -> Any:
        try:
            return hook(addon, data)
        except Exception as error:  # noqa: BLE001 - the purpose of this wrapper
            _close(addon, data, error)

    return wrapped


def _close(addon: FaultwireAddon, data: Any, error: Exception) -> None:
    """A hook failed: its client is dropped, and no server is called for it."""
    client = _client_of(data)
    addon.gateway.crashed(client, error)
    server = getattr(data, "server", None)
    if isinstance(server, Server):
        server.error = error_responses.internal(error).message
    writer = transports.writer_of(client, client) if client is not None else None
    if writer is not None:
        writer.transport.abort()


def _client_of(data: Any) -> Client | None:
    """The client connection that a hook's argument is about."""
    about = (data, getattr(data, "client_conn", None), getattr(data, "client", None))
    context = getattr(data, "context", None)
    candidates = (*about, getattr(context, "client", None))
    return next((found for found in candidates if isinstance(found, Client)), None)


class Chooser(Protocol):
    """Who may take a tunnel over."""

    def choose(self, context: Context, data: bytes) -> layer.Layer | Literal["waits"] | None:
        """The layer for a tunnel that begins with these bytes; None for mitmproxy's own."""

    def choose_plain(self, context: Context, data: bytes) -> layer.Layer | Literal["waits"] | None:
        """The same for a client of the proxy itself."""


class FaultwireAddon:
    """The hooks; they and the streams decide with the gateway. `http2`: all who offer it get it."""

    name = "faultwire"
    native: Chooser | None = None
    http2 = False

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    # ------------------------------------------------------------ hooks

    @fail_closed
    def next_layer(self, nextlayer: layer.NextLayer) -> None:
        """What a client speaks: TLS or HTTP, by its first byte, at the start and after CONNECT."""
        context, data = nextlayer.context, nextlayer.data_client()
        top = context.layers[0]
        meant = isinstance(top, compat.Captured)
        if not meant and not isinstance(top, modes.HttpProxy):
            self._swap(nextlayer)
            return
        if not data and context.client.alpn is None:
            return
        tls = bool(data) and data[0] == TLS_RECORD
        if meant and len(context.layers) == 1 and (speech := captured.speech(data)) != "tls":
            if speech == "http":
                nextlayer.layer = self._http(context, HTTPMode.transparent)
            elif speech == "other":
                captured.turn_away(self.gateway, context)
        elif len(context.layers) == 1 and not meant:
            nextlayer.layer = compat.JoiningTls(context) if tls else self._asked(context, data)
        elif isinstance(context.layers[-1], ClientTLSLayer):
            outermost = len(context.layers) == 2
            mode = HTTPMode.regular if outermost else HTTPMode.transparent
            nextlayer.layer = self._http(context, mode)
        else:
            nextlayer.layer = self._tunnel(context, data, tls=tls)

    def _asked(self, context: Any, data: bytes) -> layer.Layer | None:
        """The layer of a client that asks the proxy itself; None while it is not known yet."""
        native = self.native.choose_plain(context, data) if self.native else None
        return None if native == "waits" else native or self._http(context, HTTPMode.regular)

    def _tunnel(self, context: Any, data: bytes, *, tls: bool) -> layer.Layer | None:
        """The layer of what a tunnel begins with; None while that is not known yet."""
        native = self.native.choose(context, data) if self.native else None
        if native is not None or not tls:
            return None if native == "waits" else native or self._http(context, HTTPMode.transparent)
        server_tls = compat.UpstreamTls(context)
        server_tls.child_layer = compat.JoiningTls(context)
        return server_tls

    def _http(self, context: Any, mode: HTTPMode) -> FaultLayer:
        made = FaultLayer(context, mode)
        made.gateway = self.gateway
        return made

    def _swap(self, nextlayer: layer.NextLayer) -> None:
        """In modes of mitmproxy's own: let it choose, then put our streams into its HTTP layer."""
        chooser: Any = ctx.master.addons.get("nextlayer")
        if nextlayer.layer is None and chooser is not None:
            chooser.next_layer(nextlayer)
        found: Any = nextlayer.layer
        while found is not None:
            if type(found) is HttpLayer:
                found.__class__ = FaultLayer
                swapped: Any = found
                swapped.gateway = self.gateway
                return
            found = getattr(found, "child_layer", None)

    @fail_closed
    def http_connect(self, flow: http.HTTPFlow) -> None:
        """CONNECT: whose tunnel is it?"""
        user = convert.proxy_user(flow.request.headers)
        convert.without_proxy_headers(flow.request)
        whose = self.gateway.access.find(user, flow.client_conn)
        if whose is None:
            self.gateway.turn_away(flow.client_conn, flow.request.host)
            refusal = error_responses.unknown_user()
            flow.response = convert.message_of(refusal.response(), flow.request.http_version)
            return
        self.gateway.connection(flow.client_conn).belongs(whose)
        hosts = leaves.signer().hosts
        if not within(hosts, flow.request.host):
            refusal = error_responses.not_covered(flow.request.host, hosts)
            self.gateway.stats.refused += 1
            for one in self.gateway.connection(flow.client_conn).sessions:
                one.uncovered(flow.request.host)
            flow.response = convert.message_of(refusal.response(), flow.request.http_version)
            return
        # Of a shared user only the requests in the tunnel say whose they are.
        session = whose.single if isinstance(whose, Shared) else whose
        if session is not None and not session.stages.idle:
            self.gateway.open_tunnel(session, flow)

    @fail_closed
    def http_connected(self, flow: http.HTTPFlow) -> None:
        """A tunnel is open: one step done, and the client has to begin the next."""
        self.gateway.step(flow.client_conn)
        handler = transports.handler_of(flow.client_conn)
        if hasattr(handler, "await_first_byte"):
            handler.await_first_byte()

    @fail_closed
    def tls_clienthello(self, data: tls.ClientHelloData) -> Awaitable[object] | None:
        """HTTP/1.1, except for clients that speak only HTTP/2, such as gRPC; all that offer it, if so set."""
        client, offers = data.context.client, data.client_hello.alpn_protocols
        within_tunnel = len(data.context.layers) > 2  # the proxy itself is asked for tunnels by HTTP/1.1
        if self.http2 and within_tunnel and b"h2" in offers:
            client.alpn = b"h2"
        elif b"http/1.1" in offers:
            client.alpn = b"http/1.1"
        elif list(offers) == [b"h2"]:
            client.alpn = b"h2"
        link = self.gateway.connection(client)
        if link.captured and not captured.greet(self.gateway, data.context, client):
            return None
        self.gateway.handshakes.identify(link, client, data.client_hello.raw_bytes())
        return self.gateway.handshakes.begin(link, client, host_of(data.context))

    @fail_closed
    def tls_start_client(self, data: tls.TlsData) -> None:
        """A client says hello: in a tunnel with a flaw it gets what it should not take."""
        client = data.context.client
        tunnel = self.gateway.tunnels.of(client)
        if tunnel is not None and tunnel.flaw is not None and not tunnel.ended:
            host = client.sni or tunnel.tunnel.exchange.request.host
            tunnel.show()
            data.ssl_conn = broken_tls.server_side(tunnel.flaw, leaves.signer(), host, client.alpn)

    @fail_closed
    def tls_failed_client(self, data: tls.TlsData) -> None:
        """A handshake failed."""
        client = data.context.client
        tunnel = self.gateway.tunnels.of(client)
        link = self.gateway.connection(client)
        if (tunnel is None or tunnel.flaw is None) and not link.hung_up:
            self.gateway.handshakes.fail(link, client, host_of(data.context), data.conn.error or "")
        if tunnel is not None:
            tunnel.left("cut", "the handshake failed")

    @fail_closed
    def tls_established_client(self, data: tls.TlsData) -> None:
        """A handshake is done; HTTP/2 clients may stay silent for as long as they like."""
        self.gateway.step(data.context.client)
        tunnel = self.gateway.tunnels.of(data.context.client)
        link = self.gateway.connection(data.context.client)
        if (tunnel is None or tunnel.flaw is None) and not link.hung_up:
            link.establish(host_of(data.context), data.context.layers[-1])
        if data.context.client.alpn == b"h2":
            handler = transports.handler_of(data.context.client)
            if hasattr(handler, "unhurried"):
                handler.unhurried = True

    @fail_closed
    def tls_start_server(self, data: tls.TlsData) -> None:
        """Upstream is offered what the client speaks."""
        server: Any = data.conn
        speaks_h2 = data.context.client.alpn == b"h2"
        server.alpn_offers = (b"h2", b"http/1.1") if speaks_h2 else (b"http/1.1",)

    @fail_closed
    def server_connect(self, data: ServerConnectionHookData) -> Awaitable[None] | None:
        """The last check before a connection is opened. Our own loop checks what names resolve to."""
        host, port = data.server.address[:2] if data.server.address else ("", 0)
        why = self.gateway.guard.check_remote(host) or self.gateway.guard.check_literal(host, port)
        CHAINED.set(self.gateway.routes.proxy(host, port, tls=data.server.tls))
        if self.gateway.needs_http2(data.client):
            data.server.alpn = b"h2"  # by prior knowledge; a TLS handshake puts its own word in place
        if why is None and self.gateway.replays is not None and self.gateway.replays.offline:
            why = "a tape is replayed, and nothing is asked of any server"
        if why is not None:
            data.server.error = MARK + why
        elif not self.gateway.loop_guards:
            pending: Awaitable[None] = self._looked_up(data)
            return pending
        return None

    @fail_closed
    async def _looked_up(self, data: ServerConnectionHookData) -> None:
        host, port = data.server.address[:2] if data.server.address else ("", 0)
        try:
            infos: Any = await asyncio.get_running_loop().getaddrinfo(host, port)
            self.gateway.guard.filter(host, port, infos)
        except (OSError, UnicodeError) as error:  # limits.Refused is an OSError
            data.server.error = str(error) or type(error).__name__

    @fail_closed
    def server_connected(self, data: ServerConnectionHookData) -> None:
        """A connection to a server is open: whoever goes there otherwise goes past us."""
        if data.server.address and data.server.peername:
            proxy = CHAINED.get()
            host = data.server.address[0] if proxy is None else proxy.host
            self.gateway.reached.note(host, *data.server.peername[:2])

    @fail_closed
    def client_connected(self, client: Client) -> None:
        """A client is there, and so is its socket."""
        self.gateway.access.enter(client)

    @fail_closed
    def client_disconnected(self, client: Client) -> None:
        """Whatever this client had in flight is over."""
        self.gateway.access.leave(client)
        self.gateway.disconnected(client)

    @fail_closed
    async def faultwire_wait(self, pause: Pause) -> None:
        """A stream lets time pass."""
        link = self.gateway.connection(pause.client)
        link.pauses.add(pause)
        try:
            await pause.last()
        finally:
            link.pauses.discard(pause)

    @fail_closed
    async def faultwire_reset(self, hangup: Hangup) -> None:
        """A stream resets its client's connection."""
        writer = transports.writer_of(hangup.client, hangup.client)
        if writer is not None:
            await transports.reset(writer)
