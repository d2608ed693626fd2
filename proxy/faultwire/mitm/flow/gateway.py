"""What streams and connections ask of the engine: whose exchange this is, where it may go, when we failed."""

from __future__ import annotations

import asyncio
import functools
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from faultwire.mitm.compat import transports
from faultwire.mitm.flow.connections import ClientConnection, OpenConnections, Stats
from faultwire.mitm.flow.failed_handshakes import FailedHandshakes
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.flow.reverse_proxy import ReverseProxy
from faultwire.mitm.flow.routes import Routes
from faultwire.mitm.flow.tunnels import Tunnels
from faultwire.mitm.messages import convert, error_responses
from faultwire.mitm.network.bypassed import Reached
from faultwire.mitm.network.egress_guard import Guard
from faultwire.mitm.sessions.access import Access
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.mitm.sessions.shared_process import Shared, UnattributedCalls
from faultwire.mitm.sessions.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mitmproxy import http
    from mitmproxy.connection import Client

    from faultwire.events import Response, Side
    from faultwire.mitm.compat import BoundedHttp1Server
    from faultwire.mitm.flow.replay import Replays
    from faultwire.mitm.messages.error_responses import Refusal
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Whose
    from faultwire.tape.record.writer import TapeWriter

logger = logging.getLogger(__name__)


class Gateway:
    """Sessions, guard, routes and tape of one proxy. `stock_hooks`: others want mitmproxy's HTTP hooks;
    `reverse` are the routes of base-URL mode, `routes` the hosts that go elsewhere."""

    def __init__(
        self,
        *,
        guard: Guard | None = None,
        routes: Mapping[str, str] | None = None,
        reverse: Mapping[str, str] | None = None,
        tape: TapeWriter | None = None,
        max_exchanges: int = 1024,
        head_timeout_s: float = 10.0,
        stock_hooks: bool = False,
        replays: Replays | None = None,
        loop_guards: bool = False,
    ) -> None:
        self.sessions, self.guard = Sessions(), guard or Guard()
        self.access, self.tape, self.replays = Access(self.sessions), tape, replays
        self.head_timeout_s, self.handshake_s = head_timeout_s, 30.0
        self.stats, self.reached, self.handshakes = Stats(), Reached(), FailedHandshakes()
        self.draining, self.live, self._max = False, 0, max_exchanges
        self.response_limits: tuple[float, float] | None = None
        self.idle_request_s: float | None = None
        self.loop_guards, self.stock_hooks = loop_guards, stock_hooks
        self.routes = Routes(routes or {}, self.guard.remote_hosts)
        self.reverse, self.tunnels = ReverseProxy(reverse or {}), Tunnels()
        self._links: dict[str, ClientConnection] = {}
        self._open, self._ending = OpenConnections(), dict[str, asyncio.Event]()
        self.sources, self.idle = Sources(), asyncio.Event()
        self.new_exchange: Callable[..., RecordedExchange] = RecordedExchange  # or runtime control's
        self.idle.set()

    def begin(self, flow: http.HTTPFlow) -> RecordedExchange:
        """The exchange that begins with this request head. Raises Refusal."""
        client = flow.client_conn
        link = self.connection(client)
        if self.reverse.routes:
            self._turn(flow)
        tunnel = self.tunnels.of(client)
        if tunnel is not None:
            tunnel.taken()
        user = convert.proxy_user(flow.request.headers)
        convert.without_proxy_headers(flow.request)
        whose: Whose | None = (link.session or link.shared) if user is None else None
        if whose is None:
            whose = self.access.find(user, client)
        if whose is None:
            self.turn_away(client, flow.request.host)
            raise error_responses.unknown_user()
        session = self._chosen(whose, flow) if isinstance(whose, Shared) else whose
        if link.tls_host is not None:
            link.answered(session)
        self._check_room(session)
        self.stats.strangers.known(flow.request.host)
        self.stats.exchanges += 1
        head = convert.request_of(flow.request)
        context = session.context if tunnel is None else self.tunnels.context_of(session, client)
        leave = functools.partial(self._left, link)
        recorded = self.new_exchange(session, head, self.tape, leave, context)
        link.grpc |= recorded.grpc
        link.arrive(client, recorded)
        if self.replays is not None:
            recorded.needs_request_body = True  # what answers depends on all of it
        session.live += 1
        self.live += 1
        self.idle.clear()
        return recorded

    def _turn(self, flow: http.HTTPFlow) -> None:
        """A call in base-URL mode becomes the upstream request. Raises Refusal."""
        request, client = flow.request, flow.client_conn
        parts = self.reverse.split(request, client.id)
        whose = self.sessions.by_token(parts[0]) if parts is not None else None
        if parts is None or whose is None:
            return
        token, name, rest = parts
        route = self.reverse.find(name)
        self.connection(client).belongs(whose)
        if route is None:
            session = self._chosen(whose, flow) if isinstance(whose, Shared) else whose
            session.lose(name)
            self.stats.refused += 1
            raise error_responses.unknown_route(name, self.reverse.names)
        self.reverse.enter(request, client.id, token, route.target(rest), route)

    def open_tunnel(self, session: Session, flow: http.HTTPFlow) -> None:
        """Decide on a tunnel; where it is not opened, tell the client so."""
        try:
            self._check_room(session)
        except error_responses.Refusal as refusal:
            answer: Response | None = refusal.response()
        else:
            answer = self.tunnels.open(session, flow, self.tape)
        if answer is not None:
            flow.response = convert.message_of(answer, flow.request.http_version)

    def _chosen(self, shared: Shared, flow: http.HTTPFlow) -> Session:
        """The session of a call by a user that several share. Raises Refusal."""
        try:
            return shared.choose(flow.request.headers)
        except UnattributedCalls as astray:
            self.stats.refused += 1
            raise error_responses.no_session(str(astray)) from None

    def _check_room(self, session: Session) -> None:
        refusal = None
        if self.draining:
            refusal = error_responses.draining()
        elif self.tape is not None and self.tape.failed is not None and not self.tape.policy.passes:
            refusal = error_responses.tape_failed(self.tape.failed)
        elif self.live >= self._max:
            refusal = error_responses.busy(self._max)
        if refusal is not None:
            self.stats.refused += 1
            self._void([session], refusal.void or refusal.message)
            raise refusal

    def admit(self, recorded: RecordedExchange, *, live: bool = False) -> Refusal | None:
        """May this exchange go where it wants to go? `live`: no tape answers, and its faults have acted.
        Raises Refusal; one that is returned is to be given once the request would be sent."""
        if self.replays is not None and not live:
            return None
        request = recorded.pipeline.exchange.request
        refusal = self.routes.refusal(request.host, request.port, self.guard)
        why = refusal.unsent if refusal is not None and not live else None
        if refusal is not None and not (why and recorded.pipeline.withhold(why)):
            self.stats.refused += 1
            raise refusal
        return refusal

    def attend(self, server: BoundedHttp1Server, client: Client) -> None:
        """The HTTP/1 side towards a client is about to serve it."""
        server.on_refusal = functools.partial(self.malformed, client)
        server.changed = self.reverse.changed_answers(client.id)

    def turn_away(self, client: Client, host: str) -> None:
        """Traffic of nobody: it may have been meant for any session."""
        self.stats.refused += 1
        if not self.access.is_foreign(client):
            self.stats.strangers.turn_away(host)

    def cut_off(self, client: Client, why: str) -> None:
        """A client asked too much of us, and got an error that no fault made."""
        found = self._links[client.id].sessions if client.id in self._links else []
        if found or not self.access.is_foreign(client):
            self._void(found or self.sessions.at_port(client.sockname[1]), why)

    def malformed(self, client: Client, *, h2c: bool = False) -> None:
        """A request was refused before it was an exchange, because it cannot be read."""
        self.stats.malformed += 1
        link = self._links.get(client.id)
        found = link.sessions if link is not None else []
        if not found:
            if self.access.is_foreign(client):
                return
            found = self.sessions.at_port(client.sockname[1])
        for session in found:
            session.lose_unread(h2c=h2c)
            if link is not None:
                link.answered(session)

    def needs_http2(self, client: Client) -> bool:
        """Does what this client asks have to go out over HTTP/2, even without TLS to agree on it?"""
        return self.connection(client).grpc

    def failed(
        self, client: Client, recorded: RecordedExchange | None, error: BaseException, refusal: Refusal | None
    ) -> None:
        """Our own code failed on an exchange; `refusal` is sent to the client, if that is still possible."""
        self.crashed(client, error)
        if recorded is not None:
            recorded.fail(refusal.response() if refusal else None, error_responses.internal(error).message)

    def upgraded(self, flow: http.HTTPFlow) -> None:
        """An exchange became a WebSocket session, which may stay silent for as long as it likes."""
        self.stats.websockets += 1
        handler = transports.handler_of(flow.client_conn)
        if hasattr(handler, "unhurried"):
            handler.unhurried = True

    def throttle(self, flow: http.HTTPFlow, *, paused: bool, by: Side = "server") -> None:
        """Stop or go on reading what a fault holds back. Where streams share a connection it is not stopped
        for the sake of one of them, nor any longer once there is a second one."""
        sender = flow.server_conn if by == "server" else flow.client_conn
        link = self.connection(flow.client_conn)
        if paused and len(link.exchanges) > 1:
            return
        (link.held.add if paused else link.held.discard)(sender)
        transports.read_more(flow.client_conn, sender, paused=paused)

    def _left(self, link: ClientConnection, recorded: RecordedExchange) -> None:
        link.exchanges.discard(recorded)
        if link.counts_steps:
            link.handler.progress += 1
            link.handler.busy -= 1
        recorded.session.live -= 1
        self.live -= 1
        if not self.live:
            self.idle.set()
        if self._ending and not recorded.session.live and recorded.session.name in self._ending:
            self._ending[recorded.session.name].set()

    def step(self, client: Client) -> None:
        """A client has finished a step."""
        handler = transports.handler_of(client)
        if hasattr(handler, "progress"):
            handler.progress += 1

    def connection(self, client: Client) -> ClientConnection:
        """What is known of a client's connection."""
        link = self._links.get(client.id)
        if link is None:
            link = self._links[client.id] = ClientConnection(beside=self._open)
        return link

    def crashed(self, client: Client | None, error: BaseException) -> None:
        """A connection failed in our code: whatever session it carried proves nothing."""
        logger.error("%s at %s", type(error).__name__, error_responses.places(error))
        link = self._links.get(getattr(client, "id", ""))
        self._void(link.sessions if link else [], error_responses.internal(error).message)

    def _void(self, sessions: list[Session], reason: str) -> None:
        self.stats.voided += 1
        for voided in sessions or list(self.sessions):
            voided.void(reason)

    def lags(self) -> bool:
        """Has the tape more to write than it should?"""
        return self.tape is not None and self.tape.lags

    async def room(self) -> None:
        """Return once the tape can take more."""
        if self.tape is not None:
            await self.tape.room()

    async def end_session(self, session: Session, seconds: float) -> None:
        """Let what a session has in flight end, for so long; then drop its connections."""
        if session.live:
            self._ending[session.name] = asyncio.Event()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending[session.name].wait()
            del self._ending[session.name]
        for client_id, link in list(self._links.items()):
            if link.session is session or any(c.session is session for c in link.exchanges):
                for recorded in list(link.exchanges):
                    if recorded.session is not session:
                        why = f"`{session.name}` was closed, which shared a connection with it"
                        recorded.session.void(why)
                    recorded.end("client_aborted", "the session was closed")
                transports.abort(client_id)
        for client_id in self.tunnels.end_session(session):
            opener = self._links.get(client_id)
            if opener is not None and opener.shared is not None:
                transports.abort(client_id)  # it was decided on for one session, and is no other's

    def disconnected(self, client: Client) -> None:
        """Whatever this client had in flight is over."""
        self.reverse.close(client.id)
        self.tunnels.close(client)
        link = self._links.pop(client.id, None)
        if link is None:
            return
        self.handshakes.end(link, client)
        link.leave()
        for recorded in list(link.exchanges):
            recorded.end("client_aborted", "the client disconnected")

    def drop_idle(self, shared: Shared) -> None:
        """Close the connections on which nothing happens, so that the next call has to make one."""
        for client_id, link in list(self._links.items()):
            if link.shared is shared and not link.exchanges:
                transports.abort(client_id)
