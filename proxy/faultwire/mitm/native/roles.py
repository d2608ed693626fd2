"""What the parts of a native connection know of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mitmproxy.connection import Client, Connection, Server
    from mitmproxy.proxy import commands, events
    from mitmproxy.proxy.context import Context
    from mitmproxy.proxy.layers.http._base import HttpEvent

    from faultwire import _core
    from faultwire.mitm.compat.outgoing import ChangedAnswers
    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.stream_state import StreamState

STREAM = 1
"""The number of a stream, of which a connection has one at a time."""

Reply = tuple["Server | None", "str | None"]
"""A connection to a server, or why there is none."""


class Exchange(Protocol):
    """One exchange, as its server's side sees it. `socket` is the WebSocket that it became."""

    state: StreamState

    @property
    def socket(self) -> object | None:
        """The WebSocket that it became."""

    def handle(self, event: events.Event) -> None:
        """Take an event."""

    def reply(self, value: Any) -> None:
        """What was waited for is there."""

    def switched(self, connection: Connection, data: bytes) -> None:
        """Bytes of a WebSocket."""

    def socket_ended(self, connection: Connection) -> None:
        """One end of a WebSocket has ended its connection."""


class ServerSide(Protocol):
    """The server's side of a connection, as an exchange and OpenSSL see it."""

    def get(self, address: tuple[str, int], *, tls: bool) -> Reply | None:
        """A connection; None where the reply comes later."""

    def send(self, event: HttpEvent) -> None:
        """Write part of a request."""

    def close(self) -> None:
        """End the connection."""

    def established(self, problem: str | None) -> None:
        """A handshake is over."""

    def plain(self, data: bytes) -> None:
        """What the server said, decrypted."""

    def finished(self) -> None:
        """The server says nothing more."""


class ClientSide(Protocol):
    """A client's connection, as its parts see it."""

    client: Client
    target: Server
    context: Context
    gateway: Gateway
    tunnel: _core.Tunnel
    tls: bool
    handler: Any
    changed: ChangedAnswers | None

    @property
    def has_whole_request(self) -> bool:
        """Has the request that is being taken come to its end?"""

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that is under way."""

    @property
    def upstream(self) -> ServerSide:
        """The server's side."""

    def flush(self) -> None:
        """Write what there is to write."""

    def write(self, connection: Connection, data: bytes) -> None:
        """Write bytes as they are."""

    def say(self, words: list[tuple[Any, ...]], *, server: bool) -> None:
        """Take what one side has said."""

    def over(self) -> None:
        """The exchange is over, and the connection stays."""

    def open(self, server: Server) -> commands.OpenConnection:
        """Begin to open a connection."""

    def close(self, connection: Connection) -> None:
        """End a connection."""

    def close_client(self, *, clean: bool = True) -> None:
        """End the client's connection."""
