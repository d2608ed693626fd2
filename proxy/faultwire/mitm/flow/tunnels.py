"""Tunnels that clients open (CONNECT): the decisions on each and its recording. Bookkeeping, no I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Request, Response
from faultwire.exchange.tunnel import Tunnel
from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.connection import Client

    from faultwire.exchange.request_out import SessionContext
    from faultwire.faults.connection._stage import Flaw
    from faultwire.mitm.sessions.session import Session
    from faultwire.tape.record.recorder import Recording
    from faultwire.tape.record.writer import TapeWriter

OPENED = Response(200, "Connection established")


class RecordedTunnel:
    """Passes the events of one CONNECT to its decisions and to its recording, at the same time.

    It is an exchange of the tape where something was decided about it. It is over at once, except where
    the TLS in the tunnel has a flaw: then what the client does shows what came of it. Some clients
    look at the name in a certificate only after the handshake, so that only a request tells that one
    was taken.
    """

    def __init__(
        self, session: Session, request: Request, tape: TapeWriter | None, *, direct: bool = False
    ) -> None:
        self.session = session
        self.tunnel = Tunnel(session.context, session.stages, request, direct=direct)
        self.ended = not self.tunnel.judged
        self._shown = self._http2 = False
        self._recording: Recording | None = None
        if self.ended:
            return
        exchange = self.tunnel.exchange
        if tape is not None:
            self._recording = tape.record(exchange)
            self._recording.request(exchange.request)
            if not direct:
                self._recording.delivered_head(self.tunnel.answer or OPENED)
        if self.flaw is None and self.tunnel.stall is None:
            self.end("cut" if direct and self.tunnel.answer is not None else "complete")

    @property
    def answer(self) -> Response | None:
        """The answer to the CONNECT in place of a tunnel."""
        return self.tunnel.answer

    @property
    def flaw(self) -> Flaw | None:
        """What is to be wrong with the TLS in the tunnel, until it has acted on the client."""
        return self.tunnel.flaw

    def show(self) -> None:
        """The client is about to see the flaw."""
        self._shown = True

    def left(self, ending: str, error: str) -> None:
        """The client went away, or its handshake failed: as it should, if it saw the flaw."""
        if self.ended:
            return
        if self._shown:
            self.tunnel.mark_failed(self.tunnel.effect)
            self.end("cut")
        else:
            self.end(ending, error)

    def taken(self) -> None:
        """The client sends a request: it took what it should not have taken, if it saw it."""
        if self.ended or self.tunnel.stall is not None:
            return
        if self._shown:
            self.tunnel.ignored(f"{self.tunnel.effect}, and the client took it")
        self.end("complete")

    def stall_s(self) -> float | None:
        """HTTP/2 is spoken here: how long a body stands still once its window is full, if it does."""
        self._http2 = True
        return self.tunnel.stall.seconds if self.tunnel.stall is not None and not self.ended else None

    def stalled(self) -> None:
        """A body stood still."""
        if not self.ended:
            self.tunnel.acted()

    def end(self, ending: str, error: str | None = None) -> None:
        """It is over; only the first word counts."""
        if self.ended:
            return
        self.ended = True
        if self.tunnel.stall is not None and not self._http2:
            self.tunnel.unfit("no HTTP/2 was spoken in the tunnel, and HTTP/1.1 has no windows")
        faults = self.tunnel.ledger()
        self.session.count(self.tunnel.exchange, faults)
        if self._recording is not None:
            self._recording.end(ending, error, faults)


class Tunnels:
    """The tunnels of all clients that are connected, by client."""

    def __init__(self) -> None:
        self._open: dict[str, RecordedTunnel] = {}

    def of(self, client: Client) -> RecordedTunnel | None:
        """The tunnel that a client has opened, if one was decided on."""
        return self._open.get(client.id)

    def open(self, session: Session, flow: http.HTTPFlow, tape: TapeWriter | None) -> Response | None:
        """Decide on a tunnel; the answer to the client where it is not opened."""
        asked = flow.request
        head = Request("CONNECT", "https", asked.host, asked.port, "", convert.headers_of(asked.headers))
        return self.enter(session, flow.client_conn, head, tape)

    def enter(
        self,
        session: Session,
        client: Client,
        head: Request,
        tape: TapeWriter | None,
        *,
        direct: bool = False,
    ) -> Response | None:
        """The same for a head. With `direct` nobody has asked a proxy: the client thinks that it is connected
        to the server, and can only be hung up on."""
        tunnel = self._open[client.id] = RecordedTunnel(session, head, tape, direct=direct)
        return tunnel.answer

    def context_of(self, session: Session, client: Client) -> SessionContext:
        """What decides on a request: in a tunnel, not once more what was decided on the tunnel."""
        tunnel = self._open.get(client.id)
        return session.inside if tunnel is not None and tunnel.session is session else session.context

    def close(self, client: Client) -> None:
        """The client has disconnected."""
        tunnel = self._open.pop(client.id, None)
        if tunnel is not None:
            tunnel.left("client_aborted", "the client disconnected")

    def end_session(self, session: Session) -> list[str]:
        """The session is closed: its tunnels end. The ids of the clients that had opened one."""
        found = [(client, tunnel) for client, tunnel in self._open.items() if tunnel.session is session]
        for _, tunnel in found:
            tunnel.left("client_aborted", "the session was closed")
        return [client for client, _ in found]
