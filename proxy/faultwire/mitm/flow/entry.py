"""How a client comes to us: through a tunnel that faults may act on, or by base URL."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from faultwire.events import Request
from faultwire.mitm.compat import transports
from faultwire.mitm.engine.shared_process import Shared
from faultwire.mitm.flow import convert, error_responses
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.reverse_proxy import ResponseRewriter, ReverseProxy, split
from faultwire.mitm.flow.tunnels import RecordedTunnel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mitmproxy import http
    from mitmproxy.connection import Client

    from faultwire.events import Response
    from faultwire.exchange.request_out import SessionContext
    from faultwire.mitm.compat import BoundedHttp1Server
    from faultwire.mitm.engine.sessions import Session
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange


def _tunnel(request: http.Request) -> Request:
    """A CONNECT, which has no path."""
    return Request("CONNECT", "https", request.host, request.port, "", convert.headers_of(request.headers))


class EntryPoints(Gateway):
    """Tunnels and base-URL mode, before a request is an exchange. `reverse` are the declared routes."""

    def __init__(self, *, reverse: Mapping[str, str] | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.reverse = ReverseProxy(reverse or {})
        self._tunnels: dict[str, RecordedTunnel] = {}
        """By client: the tunnel that it opened."""
        self._answering: dict[str, ResponseRewriter] = {}
        """By client: how it is answered in base-URL mode."""

    # ------------------------------------------------------------ what a stream asks

    def begin(self, flow: http.HTTPFlow) -> RecordedExchange:
        """The exchange that begins with this request head. Raises Refusal."""
        if self.reverse:
            self._turn(flow)
        tunnel = self._tunnels.get(flow.client_conn.id)
        if tunnel is not None:
            tunnel.taken()
        return super().begin(flow)

    def _turn(self, flow: http.HTTPFlow) -> None:
        """A call in base-URL mode becomes the upstream request. Raises Refusal."""
        request, client = flow.request, flow.client_conn
        self._answering.pop(client.id, None)
        parts = split(request.path)
        whose = self.sessions.by_token(parts[0]) if parts is not None else None
        if parts is None or whose is None:
            return
        token, name, rest = parts
        route = self.reverse.find(name)
        self._link(client).belongs(whose)
        if route is None:
            session = self._chosen(whose, flow) if isinstance(whose, Shared) else whose
            session.lose(name)
            self.stats.refused += 1
            raise error_responses.unknown_route(name, self.reverse.names)
        base = f"http://{request.host_header}/{token}"
        request.scheme, request.port, request.host = route.scheme, route.port, route.host
        request.path = route.target(rest)
        request.headers.pop("proxy-authorization", None)
        self._answering[client.id] = ResponseRewriter(self.reverse, base, route, request)

    def context_of(self, session: Session, client: Client) -> SessionContext:
        """What decides on a request: in a tunnel, not once more what was decided about the tunnel."""
        tunnel = self._tunnels.get(client.id)
        return session.inside if tunnel is not None and tunnel.session is session else session.context

    def attend(self, server: BoundedHttp1Server, client: Client) -> None:
        """The HTTP/1 side towards a client is about to serve it."""
        super().attend(server, client)
        if self.reverse:
            server.outgoing = functools.partial(self._answering.get, client.id)

    async def end_session(self, session: Session, seconds: float) -> None:
        """Let what a session has in flight end, for so long; then drop its connections."""
        await super().end_session(session, seconds)
        for client_id, tunnel in list(self._tunnels.items()):
            if tunnel.session is session:
                tunnel.left("client_aborted", "the session was closed")
                link = self._links.get(client_id)
                if link is not None and link.shared is not None:
                    transports.abort(client_id)  # it was decided on for one session, and is no other's

    def open_tunnel(self, session: Session, flow: http.HTTPFlow) -> None:
        """Decide about a tunnel; where it is not opened, say so to the client."""
        try:
            self._check_room(session)
        except error_responses.Refusal as refusal:
            answer: Response | None = refusal.response()
        else:
            tunnel = RecordedTunnel(session, _tunnel(flow.request), self.tape)
            answer = tunnel.answer
            self._tunnels[flow.client_conn.id] = tunnel
        if answer is not None:
            flow.response = convert.message_of(answer, flow.request.http_version)
