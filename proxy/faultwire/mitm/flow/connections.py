"""What is known of client connections, and what is counted over all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.events import Arrival
from faultwire.mitm.compat import transports
from faultwire.mitm.sessions.handshakes import NOBODY, TlsClient
from faultwire.mitm.sessions.sessions import UnknownUsers
from faultwire.mitm.sessions.shared_process import Shared

if TYPE_CHECKING:
    from mitmproxy.connection import Client, Connection

    from faultwire.mitm.compat.hooks import Pause
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Whose


class OpenConnections:
    """How many client connections there are of each session, or process that sessions share, by its name."""

    def __init__(self) -> None:
        self.numbered = 0
        self.open: Counter[str] = Counter()
        self.unused: Counter[str] = Counter()

    def enter(self, name: str) -> tuple[int, int]:
        """One more is open; its number, and how many were open beside it."""
        self.numbered += 1
        others = self.open[name]
        self.open[name] += 1
        self.unused[name] += 1
        return self.numbered, others

    def use(self, name: str) -> int:
        """It carries its first request; how many of the others have not yet."""
        self.unused[name] -= 1
        return self.unused[name]

    def leave(self, name: str, *, used: bool) -> None:
        """It is over."""
        self.open[name] -= 1
        self.unused[name] -= not used
        if not self.open[name]:
            del self.open[name], self.unused[name]


@dataclass
class ClientConnection:
    """What is known of one client connection."""

    session: Session | None = None
    shared: Shared | None = None
    """The user that several sessions share, where it came by one."""
    exchanges: set[RecordedExchange] = field(default_factory=set)
    pauses: set[Pause] = field(default_factory=set)
    held: set[Connection] = field(default_factory=set)
    """Connections that are not read from for the sake of its only exchange."""
    grpc: bool = False
    """Has it made a gRPC call?"""

    captured: bool = False
    """Was it meant for a server, and taken in a network namespace of ours?"""
    hung_up: bool = False
    """Did we reset it? Then what its client does in TLS says nothing of its trust."""
    tls_host: str | None = None
    """The host of a finished handshake, after which its client has said nothing yet."""
    tls_client: TlsClient = NOBODY
    beside: OpenConnections = field(default_factory=OpenConnections)
    """All connections of the engine."""
    owner: str | None = None
    """Under which name it is counted there."""
    handler: Any = None
    """What reads and writes its bytes, once a request has come."""
    counts_steps: bool = False
    """Does it count what its client has done? Only our own does."""
    number: int = 0
    others: int = 0
    requests: int = 0

    def belongs(self, whose: Whose) -> None:
        """It came by this user, or token."""
        if isinstance(whose, Shared):
            self.shared = whose
        else:
            self.session = whose
        self._enter(whose.name)

    def _enter(self, owner: str) -> None:
        if self.owner is None:
            self.owner = owner
            self.number, self.others = self.beside.enter(owner)

    def arrive(self, client: Client, recorded: RecordedExchange) -> None:
        """A request has come, whose recording is told how."""
        name = recorded.session.context.name
        if self.owner is None:
            self._enter(name)
        owner = self.owner or name
        if self.handler is None:
            self.handler = transports.handler_of(client)
            self.counts_steps = hasattr(self.handler, "progress")
        if self.counts_steps:
            self.handler.progress += 1
            self.handler.busy += 1
        if self.held:
            self._read_on(client)
        self.exchanges.add(recorded)
        self.requests += 1
        unused = self.beside.use(owner) if self.requests == 1 else self.beside.unused[owner]
        now = clock.utc_now().timestamp()
        opened = client.timestamp_start
        ready = max(opened, client.timestamp_tls_setup or opened)
        ages = (max(0.0, (now - opened) * 1000), max(0.0, (now - ready) * 1000))
        if recorded.recording is not None:
            recorded.recording.arrival = Arrival(self.number, self.requests, *ages, self.others, unused)

    def _read_on(self, client: Client) -> None:
        """There are several exchanges: nothing is held back for the sake of one of them."""
        while self.held:
            transports.read_more(client, self.held.pop(), paused=False)

    def leave(self) -> None:
        """It is over, and so are the waits in it."""
        for pause in list(self.pauses):
            pause.leave()
        if self.owner is not None:
            self.beside.leave(self.owner, used=self.requests > 0)

    def answered(self, session: Session) -> None:
        """A call of this session came in."""
        if self.tls_host is not None:
            session.handshakes.answer(self.tls_host, self.tls_client)
            self.tls_host = None

    def establish(self, host: str, layer: Any) -> None:
        """A handshake for this host is over in this layer of mitmproxy's, or of ours."""
        self.tls_host = host
        if hasattr(layer, "on_data"):
            layer.on_data = self.spoke

    def spoke(self) -> None:
        """The client said something inside TLS, and be it no call: it has taken the certificate."""
        if self.tls_host is not None and (sessions := self.sessions):
            for session in sessions:
                session.handshakes.answer(self.tls_host, self.tls_client)
            self.tls_host = None

    @property
    def sessions(self) -> list[Session]:
        """Whose it can be; empty where nobody knows."""
        if self.session is not None:
            return [self.session]
        doing = [recorded.session for recorded in self.exchanges]
        return doing or (self.shared.sessions if self.shared is not None else [])


@dataclass
class Stats:
    """Counters of the whole engine."""

    exchanges: int = 0
    refused: int = 0
    malformed: int = 0
    websockets: int = 0
    websocket_messages: int = 0
    slow_heads: int = 0
    """Clients that were dropped because they did not finish a request head, or a handshake."""
    half_open: int = 0
    """Connections and tunnels in which their client said nothing in time."""
    slow_bodies: int = 0
    repeated: int = 0
    """Requests that were sent once more, since the server had ended their connection without a word."""
    flooded: int = 0
    """Connections that were ended because their client asked too much of us."""
    crowded_out: int = 0
    """Connections over what one source may have."""
    voided: int = 0
    native_path: str = "off"
    """How connections are served natively, by the self-tests: one of `native.ways.WAYS`."""
    native: int = 0
    """Tunnels whose TLS and HTTP/1.1 are the core's."""
    native_plain: int = 0
    """Connections of clients that ask the proxy itself for `http` URLs, whose HTTP/1.1 is the core's."""
    native_base_url: int = 0
    """Connections of clients in base-URL mode whose HTTP/1.1 is the core's."""
    native_streams: int = 0
    """Of all these, those whose sockets are read through streams: the self-test of the quick way failed."""
    native_declined: Counter[str] = field(default_factory=Counter)
    """Tunnels that stayed mitmproxy's although the native path is on, by reason."""
    native_openssl: int = 0
    """Connections to servers of such tunnels for which OpenSSL was asked after the core."""
    strangers: UnknownUsers = field(default_factory=UnknownUsers)

    def counted(self) -> dict[str, int | str | dict[str, int]]:
        """Every counter by its name."""
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int | str)}
        return {**numbers, "native_declined": dict(self.native_declined)}
