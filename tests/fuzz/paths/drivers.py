"""Plays a script through one of the two paths, without sockets.

Layers, exchanges, pipelines and recordings are the engine's own. In place of asyncio's transports stand lists
of bytes, and a connection is opened, a wait ends and a peer leaves when the script says so: the same script
gives the same outcome each time.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from mitmproxy import ctx
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.connection import Connection, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events, mode_specs
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HTTPMode
from tests.fuzz.paths.cases import HOST, Case
from tests.fuzz.paths.faults import profiles
from wsproto import frame_protocol

from faultwire import _core
from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm import compat
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook, Hooks
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.stream import FaultLayer
from faultwire.mitm.native.layer import NativeLayer
from faultwire.tape.record.recorder import Recording

PLACE = (HOST.decode(), 80)
HALF = ", but nothing more is written"
STEPS = 2000
"""Events that one script may lead to; more is a loop."""


class Intake:
    """The queue of a tape whose writer keeps up."""

    gone = drops = overflows = False
    offered = taken = 0
    failed = None
    lags = False

    def __init__(self) -> None:
        self.recordings: list[Recording] = []

    def admit(self, exchange: Any) -> Recording:
        recording = Recording(exchange, self)
        self.recordings.append(recording)
        return recording

    def hurry(self) -> None:
        """Nobody gathers."""

    def offer(self, item: Recording) -> None:
        """All are kept."""


@dataclass(eq=False)
class Wire:
    """The far end of one connection: what was written to it, and how it ended."""

    connection: Connection
    written: bytearray = field(default_factory=bytearray)
    end: str = "open"
    half: bool = False
    """Was it told that nothing more is written?"""
    asked: int = 0
    """When it was written to last."""

    @property
    def writer(self) -> Wire:
        return self

    @property
    def handler(self) -> None:
        return None

    @property
    def transport(self) -> Wire:
        return self

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.end != "open"

    def write(self, data: bytes) -> None:
        self.written += data
        self.asked = next(_NUMBERS)


_NUMBERS = itertools.count(1)


class Writer:
    """What mitmproxy's handler asks the socket of a client at its start."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default


class Waiter:
    """An addon that has handlers for our hooks; `Handler` carries them out. A connection that the native path
    hands back is mitmproxy's from there on."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    def next_layer(self, nextlayer: Any) -> None:
        """A client of the proxy itself asks for something."""
        nextlayer.layer = layer = FaultLayer(nextlayer.context, HTTPMode.regular)
        layer.gateway = self.gateway

    def faultwire_wait(self, _: Any) -> None:
        """Never called."""

    def faultwire_reset(self, _: Any) -> None:
        """Never called."""


class Handler(compat.FastHandler):
    """The handler of a connection, which waits for its script."""

    def __init__(self, options: Options, gateway: Gateway) -> None:
        mode = mode_specs.ProxyMode.parse("regular")
        hooks = Hooks([Waiter(gateway)])
        super().__init__(SimpleNamespace(), None, Writer(), options, mode, gateway, hooks=hooks)
        self.wires = {self.client: Wire(self.client)}
        self.transports: Any = dict(self.wires)
        self.opening: deque[commands.OpenConnection] = deque()
        self.servers: list[Wire] = []
        self.waits: deque[FaultwireWaitHook] = deque()
        self.closed: deque[Connection] = deque()

    def _other(self, command: commands.Command) -> None:
        if isinstance(command, commands.OpenConnection):
            self.opening.append(command)
            self.transports[command.connection] = SimpleNamespace(writer=None, handler=None)
        elif isinstance(command, commands.CloseConnection) and command.connection in self.transports:
            half = isinstance(command, commands.CloseTcpConnection) and command.half_close
            self.close_connection(command.connection, half)

    def close_connection(self, connection: Connection, half_close: bool = False) -> None:
        """What is heard of it comes later, as from the task of a socket."""
        if half_close:
            connection.state &= ~ConnectionState.CAN_WRITE
            self.wires[connection].half = True
            return
        connection.state = ConnectionState.CLOSED
        wire = self.wires.get(connection)
        if wire is not None and wire.end == "open":
            wire.end = "closed"
            self.closed.append(connection)

    def abort(self) -> None:
        self.close_connection(self.client)
        self.wires[self.client].end = "aborted"

    def _run_hook(self, command: commands.StartHook) -> bool:
        if isinstance(command, FaultwireWaitHook):
            self.waits.append(command)
            self.owner.connection(self.client).pauses.add(command.pause)
            return False
        if not isinstance(command, FaultwireResetHook):
            return super()._run_hook(command)
        self.wires[self.client].end = "reset"
        self.client.state = ConnectionState.CLOSED
        self.closed.append(self.client)
        return True


def options() -> Options:
    """As the engine's, but for the files in them."""
    found = Options(rawtcp=False)
    loader = SimpleNamespace(add_option=found.add_option, add_command=lambda *_: None)
    Proxyserver().load(loader)  # type: ignore[no-untyped-call]
    found.update(connection_strategy="lazy")
    return found


compat.install()
frame_protocol.os = SimpleNamespace(urandom=bytes)  # type: ignore[attr-defined]  # the masks of WebSocket frames
OPTIONS = options()
TERMS = _core.Terms(b"")


class Listened(NativeLayer):
    """A native connection of which is kept what the core could not read."""

    flaws: tuple[str, ...] = ()

    def say(self, words: list[tuple[Any, ...]], *, server: bool) -> None:
        """Take what one side has said."""
        self.flaws += tuple(word[1] for word in words if word[0] == "flaw")
        super().say(words, server=server)


class Player:
    """One connection on one path, in a tunnel to `PLACE` or of a client that asks the proxy for URLs."""

    def __init__(self, case: Case, *, native: bool) -> None:
        self.case = case
        self.tape = Intake()
        self.gateway = Gateway(tape=self.tape)  # type: ignore[arg-type]
        self.handler = Handler(OPTIONS, self.gateway)
        client = self.handler.client
        connections = {client.id: self.handler}
        server = SimpleNamespace(connections=connections)
        ctx.master = SimpleNamespace(addons={"proxyserver": server})
        session = SessionContext("s", profiles()[case.profile], Dice(1, "s"), SessionState())
        self.session = self.gateway.sessions.open(session)
        self.gateway.connection(client).belongs(self.session)
        place = Context(client, OPTIONS)
        place.server = Server(address=None if case.plain else PLACE)
        if native:
            tunnel = _core.Tunnel(TERMS, None)
            self.handler.layer = Listened(place, self.gateway, tunnel, tls=False)
        else:
            mode = HTTPMode.regular if case.plain else HTTPMode.transparent
            self.handler.layer = layer = FaultLayer(place, mode)
            layer.gateway = self.gateway
        self.problem: str | None = None
        self.left = STEPS

    # ------------------------------------------------------------ events

    def play(self) -> None:
        """Carry the script out, let all waits end, and have the client leave."""
        self.event(events.Start())
        for who, data in self.case.steps:
            getattr(self, f"_{who}")(data)
        for _ in range(STEPS):
            if not (self.handler.opening or self.handler.waits):
                break
            self._open(b"")
            self._time(b"")
        self.client_end = self.handler.wires[self.handler.client].end
        self.server_ends = [wire.end + wire.half * HALF for wire in self.handler.servers]
        self._client_end(b"")
        self._client_gone()

    def event(self, event: events.Event) -> None:
        """Give an event to the layer, and those that follow from it."""
        todo = deque((event,))
        while todo:
            self.left -= 1
            assert self.left > 0, "the same again and again"
            try:
                self.handler._carry(todo.popleft())
            except Exception as error:  # noqa: BLE001 - as the handler does
                self.gateway.crashed(self.handler.client, error)
                self.handler.abort()
            while self.handler.closed:
                closed = self.handler.closed.popleft()
                self.handler.transports.pop(closed, None)
                todo.append(events.ConnectionClosed(closed))
                if closed is self.handler.client:
                    self._client_gone()

    def _client_gone(self) -> None:
        """Its handler ends, and with it all connections to servers."""
        for wire in self.handler.servers:
            self.handler.close_connection(wire.connection)
        link = self.gateway.connection(self.handler.client)
        self.gateway.disconnected(self.handler.client)
        assert link is not None
        while self.handler.waits:
            self.event(events.HookCompleted(self.handler.waits.popleft()))

    # ------------------------------------------------------------ steps

    def _client(self, data: bytes) -> None:
        self._say(self.handler.client, data)

    def _server(self, data: bytes) -> None:
        self._open(b"")
        if self.handler.servers:
            self._say(self._asked().connection, data)

    def _asked(self) -> Wire:
        """The server that was asked last."""
        return max(self.handler.servers, key=lambda wire: wire.asked)

    def _say(self, connection: Connection, data: bytes) -> None:
        if connection.state & ConnectionState.CAN_READ and data:
            self.event(events.DataReceived(connection, data))

    def _open(self, _: bytes) -> None:
        while self.handler.opening:
            command = self.handler.opening.popleft()
            connection = command.connection
            if self.handler.wires[self.handler.client].end != "open":
                continue  # its task was cancelled
            wire = self.handler.wires[connection] = Wire(connection)
            self.handler.transports[connection] = wire
            wire.asked = next(_NUMBERS)
            self.handler.servers.append(wire)
            connection.state = ConnectionState.OPEN
            self.event(events.OpenConnectionCompleted(command, None))

    def _refuse(self, _: bytes) -> None:
        if self.handler.opening:
            command = self.handler.opening.popleft()
            self.handler.transports.pop(command.connection, None)
            command.connection.error = "refused"
            self.event(events.OpenConnectionCompleted(command, "refused"))

    def _time(self, _: bytes) -> None:
        for _again in range(len(self.handler.waits)):
            hook = self.handler.waits.popleft()
            pause = hook.pause
            if pause.seconds is None and not (pause.left or pause._ended):
                self.handler.waits.append(hook)  # until its client leaves
                continue
            self.gateway.connection(self.handler.client).pauses.discard(pause)
            self.event(events.HookCompleted(hook))
            return

    def _client_end(self, _: bytes) -> None:
        self._ends(self.handler.client)

    def _server_end(self, _: bytes) -> None:
        self._open(b"")
        if self.handler.servers:
            self._ends(self._asked().connection)

    _reset = _server_end

    def _ends(self, connection: Connection) -> None:
        if connection.state & ConnectionState.CAN_READ:
            connection.state &= ~ConnectionState.CAN_READ
            self.event(events.ConnectionClosed(connection))

    # ------------------------------------------------------------ what came of it

    def counters(self) -> dict[str, Any]:
        """What the session and the engine count."""
        session, stats = self.session, self.gateway.stats
        return {
            "exchanges": session.exchanges,
            "malformed": session.malformed,
            "written": (session.requests_written, session.requests_recorded),
            "voids": tuple(session.voids),
            "fired": Counter(session.fired),
            "refused": stats.refused,
            "live": self.gateway.live,
        }
