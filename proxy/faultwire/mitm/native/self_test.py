"""Does a native connection work with this version of mitmproxy? Tried once, at the start of an engine.

Two requests go through a whole connection without sockets, in place of whose handler stands one that notes
what it is asked for: what reaches the server and the client has to be these bytes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mitmproxy.connection import Client, Connection, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context

from faultwire import _core
from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.messages import error_responses
from faultwire.mitm.native.layer import NativeLayer
from faultwire.profile.model import Profile

if TYPE_CHECKING:
    from faultwire.mitm.flow.connections import ClientConnection

logger = logging.getLogger(__name__)

REQUEST = b"POST /a HTTP/1.1\r\nhost: self.test\r\ncontent-length: 2\r\n\r\nhi"
ANSWER = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nyo\r\n0\r\n\r\n"


@dataclass(eq=False)
class _Transport:
    """A transport and its writer."""

    written: bytes = b""

    @property
    def writer(self) -> _Transport:
        return self

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None:
        self.written += data


@dataclass
class _Handler:
    """What a native connection needs of its handler."""

    transports: dict[Connection, _Transport]
    asked: list[commands.Command] = field(default_factory=list)
    layer: Any = None
    progress: int = 0
    busy: int = 0

    def hold(self, connection: Connection) -> None:
        """Nothing has to wait here."""

    let_go = hold

    def _run_hook(self, command: commands.StartHook) -> bool:
        return True

    def _other(self, command: commands.Command) -> None:
        self.asked.append(command)

    def close_connection(self, connection: Connection) -> None:
        self.transports.pop(connection)


def passes() -> bool:
    """Do the bytes arrive? What else happens is in the log."""
    try:
        found = _exchanged()
    except Exception as error:  # noqa: BLE001 - whatever another version raises, it does not work there
        logger.warning("%s at %s", type(error).__name__, error_responses.places(error))
        return False
    return found == (2 * REQUEST, 2 * ANSWER)


def _exchanged() -> tuple[bytes, bytes]:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
    to_client, to_server = _Transport(), _Transport()
    handler = _Handler({client: to_client})
    gateway = Gateway()
    context = SessionContext("self-test", Profile(name="calm"), Dice(0, "self-test"), SessionState())
    link: ClientConnection = gateway.connection(client)
    link.handler, link.counts_steps = handler, True
    link.belongs(gateway.sessions.open(context))
    place = Context(client, Options())
    place.server = Server(address=("self.test", 80))
    layer = NativeLayer(place, gateway, _core.Tunnel(_core.Terms(b""), None), tls=False, handler=handler)
    layer.handle_event(events.Start())
    for piece in (REQUEST[:9], REQUEST[9:]):
        layer.handle_event(events.DataReceived(client, piece))
    (command,) = handler.asked
    assert isinstance(command, commands.OpenConnection)
    command.connection.state = ConnectionState.OPEN
    handler.transports[command.connection] = to_server
    layer.handle_event(events.OpenConnectionCompleted(command, None))
    layer.handle_event(events.DataReceived(command.connection, ANSWER))
    layer.handle_event(events.DataReceived(client, REQUEST))
    layer.handle_event(events.DataReceived(command.connection, ANSWER))
    return to_server.written, to_client.written
