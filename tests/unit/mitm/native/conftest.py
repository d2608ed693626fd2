"""A native connection without sockets: a handler that notes what it is asked to do."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, Connection, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context

from faultwire import _core
from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.native.layer import NativeLayer
from faultwire.profile import load


class Writer:
    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False


class Handler:
    """What a native layer needs of `FastHandler`."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.layer: Any = None
        self.progress = self.busy = 0
        self.unhurried = False
        self.transports: dict[Connection, Any] = {client: SimpleNamespace(writer=Writer())}
        self.asked: list[commands.OpenConnection] = []
        self.closed: list[Connection] = []
        self.hooks: list[commands.StartHook] = []
        self.held: set[Connection] = set()

    def hold(self, connection: Connection) -> None:
        self.held.add(connection)

    def let_go(self, connection: Connection) -> None:
        self.held.discard(connection)

    def close_connection(self, connection: Connection) -> None:
        connection.state = ConnectionState.CLOSED
        self.closed.append(connection)
        self.transports.pop(connection)

    def _other(self, command: commands.Command) -> None:
        assert isinstance(command, commands.OpenConnection)
        self.asked.append(command)

    def _run_hook(self, command: commands.StartHook) -> bool:
        self.hooks.append(command)
        return False


class Rig:
    """One client's connection in a tunnel to `api.example.com:80`, under a profile (YAML)."""

    def __init__(self, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.handler = Handler(self.client)
        server = SimpleNamespace(connections={self.client.id: self.handler})
        monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
        self.gateway = Gateway()
        chosen = load.parse(profile, "test.yaml")
        self.session = self.gateway.sessions.open(SessionContext("s", chosen, Dice(1, "s"), SessionState()))
        self.gateway.connection(self.client).belongs(self.session)
        context = Context(self.client, Options())
        context.server = Server(address=("api.example.com", 80))
        tunnel = _core.Tunnel(_core.Terms(b""), None)
        self.layer = NativeLayer(context, self.gateway, tunnel, tls=False)
        self.layer.handle_event(events.Start())
        self.writers: dict[Connection, Writer] = {self.client: self.handler.transports[self.client].writer}

    @property
    def server(self) -> Server:
        """The newest connection to a server."""
        return self.handler.asked[-1].connection

    def say(self, data: bytes, size: int = 1 << 20) -> None:
        """The client sends bytes, in pieces of this size."""
        for at in range(0, len(data), size):
            self.layer.handle_event(events.DataReceived(self.client, data[at : at + size]))

    def connect(self, problem: str | None = None) -> None:
        """The connection that was asked for is there, or is not."""
        command = self.handler.asked[-1]
        if problem is None:
            command.connection.state = ConnectionState.OPEN
            writer = self.writers[command.connection] = Writer()
            self.handler.transports[command.connection] = SimpleNamespace(writer=writer)
        self.layer.handle_event(events.OpenConnectionCompleted(command, problem))

    def answer(self, data: bytes, size: int = 1 << 20) -> None:
        """The server sends bytes, in pieces of this size."""
        for at in range(0, len(data), size):
            self.layer.handle_event(events.DataReceived(self.server, data[at : at + size]))

    def end(self, connection: Connection) -> None:
        """A connection ends by itself."""
        self.layer.handle_event(events.ConnectionClosed(connection))

    def delivered(self) -> bytes:
        """What the client has got since this was last asked."""
        return self._taken(self.client)

    def asked(self) -> bytes:
        """What the server has got since this was last asked."""
        return self._taken(self.server)

    def _taken(self, connection: Connection) -> bytes:
        writer = self.writers[connection]
        data, writer.written = writer.written, b""
        return data


CALM = "name: calm\ndescription: Nothing.\nfaults: []\n"


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Rig]:
    """One connection; its profile is the test's parameter, or calm."""
    return Rig(getattr(request, "param", CALM), monkeypatch)  # type: ignore[return-value]
