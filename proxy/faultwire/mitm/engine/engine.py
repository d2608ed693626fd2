"""The engine: mitmproxy in a program of our own, with only the parts that an exchange needs.

No mitmproxy server, dumper or logger runs: we accept connections ourselves and hand each to a handler
of `compat`. One process, one event loop without eager tasks, one tape.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from mitmproxy.addons.core import Core
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.master import Master
from mitmproxy.options import Options
from mitmproxy.proxy import mode_specs

from faultwire import clock
from faultwire.dice import Dice
from faultwire.errors import FaultwireError, UsageError
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm import compat
from faultwire.mitm.engine import crash_log
from faultwire.mitm.engine.accept import Acceptor
from faultwire.mitm.engine.configured_gateway import gateway_of
from faultwire.mitm.engine.event_loop import GuardedLoop
from faultwire.mitm.engine.listeners import listen
from faultwire.mitm.engine.tape import judged, open_tape, refusing
from faultwire.mitm.flow import replay, request_balance
from faultwire.mitm.flow.addon import FaultwireAddon
from faultwire.mitm.network import ca, upstream_trust
from faultwire.mitm.network.bypassed import past_us
from faultwire.mitm.sessions.access import reachable
from faultwire.mitm.sessions.shared_process import trace_id
from faultwire.mitm.settings import SessionSettings
from faultwire.profile.dump import from_dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Bypass
    from faultwire.mitm.engine.captured_traffic import CapturedTraffic
    from faultwire.mitm.engine.handed_over import HandedOver
    from faultwire.mitm.flow.runtime_control import RuntimeControl
    from faultwire.mitm.network.ca import Authority
    from faultwire.mitm.network.client_certificates import ClientCertificates
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Whose
    from faultwire.mitm.sessions.shared_process import Shared
    from faultwire.mitm.settings import EngineSettings, ShareSettings

SESSION_END_S = 2.0
"""How long a session that is closed may take to end what it has in flight."""


class Engine:
    """One engine, from settings to its end. Raises UsageError or FaultwireError from `start`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.stopped = asyncio.Event()
        self.port = 0
        self._servers: list[asyncio.Server] = []
        self._session_servers: dict[str, asyncio.Server] = {}
        self._captured: CapturedTraffic | None = None
        self._runtime: RuntimeControl | None = None
        self._handed: HandedOver | None = None

    async def start(self) -> None:
        """Take CA, tape and port, in an order that leaves nothing behind where one is refused."""
        settings = self.settings
        compat.check()
        compat.install()
        host, port = settings.address
        self.authority: Authority = ca.ensure(settings.ca_dir, covers=settings.covers)
        bundle = upstream_trust.write_bundle(settings.ca_dir, settings.upstream_ca)
        clients = upstream_trust.client_certificates(settings.client_certs, bundle)
        self.port = port
        if settings.handed is None:
            self._servers.append(await listen(host, port, self._accept))
            self.port = self._servers[0].sockets[0].getsockname()[1]
        replays = replay.opened(settings)
        self.tape = open_tape(settings)
        self.gateway = gateway_of(settings, self.tape, replays, self.port)
        loop = asyncio.get_running_loop()
        if isinstance(loop, GuardedLoop):
            loop.guard = self.gateway.guard
        await self._start_mitmproxy(str(bundle), clients)
        if settings.clients is not None:
            from faultwire.mitm.engine.named_sessions import let_clients_name

            self._handed = let_clients_name(settings, self.gateway.sessions, self._open, self._accept)
        elif settings.implicit is not None:
            self.gateway.sessions.implicit = self._open(settings.implicit)
        for server in self._servers:
            await server.start_serving()
        if self._handed is not None:
            self._handed.start()
        if settings.namespace is not None or settings.packets is not None:
            from faultwire.mitm.engine import captured_traffic

            self._captured = await captured_traffic.start(settings, self.gateway.sessions, self._acceptor)

    async def _start_mitmproxy(self, bundle: str, clients: ClientCertificates | None) -> None:
        options = Options(confdir=str(self.settings.ca_dir), server=False, rawtcp=False)
        self.master = Master(options)
        self.proxyserver = Proxyserver()
        ours = FaultwireAddon(self.gateway)
        ours.http2 = self.settings.http2
        self.master.addons.add(Core(), self.proxyserver, ours, compat.LeafCertificates(clients))
        options.update(
            connection_strategy="lazy",
            ssl_verify_upstream_trusted_ca=bundle,
            add_upstream_certs_to_client_chain=False,
            upstream_cert=False,
        )
        await self.master.running()
        crash_log.quiet(self.gateway)
        mode = mode_specs.ProxyMode.parse("regular")
        self._fast = await compat.fast_handler_works(self.master, mode)
        if self.settings.native:
            from faultwire.mitm.native.choice import native_path

            ours.native = native = native_path(self.settings, self.gateway, bundle, clients)
            if native is not None:
                await native.prepare(fast=self._fast)
        self._acceptor = Acceptor(self.gateway, self.master, self.proxyserver, mode, fast=self._fast)

    # ------------------------------------------------------------ connections

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._acceptor.serve(reader, writer)

    # ------------------------------------------------------------ sessions

    @property
    def runtime(self) -> RuntimeControl:
        """What controllers arm, made when the first of them asks: most engines are never controlled."""
        if self._runtime is None:
            from faultwire.mitm.flow.runtime_control import RuntimeControl

            implicit = self.settings.implicit
            seed = implicit.seed if implicit is not None else 0
            self._runtime = RuntimeControl(
                self.settings.radius, self.tape, seed=seed, redact=self.settings.redact
            )
            self.gateway.new_exchange = self._runtime.begin
        return self._runtime

    async def open_session(self, settings: SessionSettings) -> dict[str, Any]:
        """Open a session with a listener of its own, or one that shares a user."""
        trace = trace_id(settings.seed, settings.name)
        whose: Whose
        if settings.via:
            whose = self._attached(self._open(settings), settings.via, trace)
        else:
            whose = await self._with_listener(settings)
        return {"user": whose.user, "token": whose.token, "port": whose.port, "trace": trace}

    def _attached(self, session: Session, name: str, trace: str) -> Shared:
        try:
            shared = self.gateway.sessions.attach(name, session, trace)
        except UsageError:
            self._forget(session)
            raise
        if not session.stages.idle:
            self.gateway.drop_idle(shared)
        return shared

    def _forget(self, session: Session) -> None:
        self.gateway.sessions.close(session)
        if self.tape is not None:
            self.tape.close_session(session.name)

    async def share(self, settings: ShareSettings) -> dict[str, Any]:
        """Open a user that several sessions share, with a calm session of its own."""
        calm = SessionSettings(name=settings.name, profile={"name": "calm"}, seed=0)
        session = await self._with_listener(calm)
        shared = self.gateway.sessions.share(session, unnamed=settings.unnamed)
        self.gateway.sessions.listen(shared, session.port)
        return {"user": shared.user, "token": shared.token, "port": shared.port}

    async def _with_listener(self, settings: SessionSettings) -> Session:
        # It needs no token, so that it is not for others.
        host = reachable(self.settings.address[0])
        # The listener first: a name that was opened is on the tape and cannot be opened again.
        server = await listen(host, 0, self._accept)
        with ExitStack() as undo:
            undo.callback(server.close)
            session = self._open(settings)
            undo.pop_all()
        port: int = server.sockets[0].getsockname()[1]
        self.gateway.guard.listeners.add(port)
        self.gateway.sessions.listen(session, port)
        self._session_servers[session.name] = server
        await server.start_serving()
        return session

    def _open(self, settings: SessionSettings, user: str = "", token: str = "", path: str = "") -> Session:
        profile = from_dump(settings.profile)
        dice = Dice(settings.seed, settings.dice or settings.name)
        context = SessionContext(settings.name, profile, dice, SessionState())
        session = self.gateway.sessions.open(context, settings.agent, user=user, token=token, path=path)
        if self.gateway.replays is not None:
            self.gateway.replays.open(session, settings.answers)
        if self.tape is not None:
            try:
                self.tape.open_session(
                    settings.name,
                    profile=profile.name,
                    profile_digest=profile.digest,
                    seed=settings.seed,
                    agent=settings.agent,
                )
            except FaultwireError:
                self.gateway.sessions.close(session)
                raise
        return session

    async def close_session(self, name: str, seen: Sequence[Bypass] = (), more: int = 0) -> dict[str, Any]:
        """End what the session has in flight, commit it, and say what it did.

        `seen` are peers of its agent's processes, and `more` of them are not named.
        """
        session = self.gateway.sessions.named(name)
        if session.closing:
            raise UsageError(f"the session `{name}` is being closed already", code="engine.session")
        session.closing = True
        self.gateway.sessions.detach(session)
        server = self._session_servers.pop(name, None)
        if server is not None:
            server.close()
        if self._captured is not None and self._captured.session == name:
            self._captured.close()
        await self.gateway.end_session(session, SESSION_END_S)
        await self.gateway.handshakes.settle()
        session.judge_handshakes()
        self.gateway.sessions.close(session)
        guard, host = self.gateway.guard, self.settings.address[0]
        past = session.namespace.not_taken(seen)
        session.see(past_us(session.context.profile, past, self.gateway.reached, guard, host), more)
        self.gateway.guard.listeners.discard(session.port)
        acknowledged = 0
        request_balance.settle(session, self.tape)
        if self.tape is not None:
            self.tape.close_session(name, **session.seen())
            await self.flush()
            acknowledged = judged(self.tape, session)
        summary = session.summary(acknowledged)
        if self.gateway.replays is not None:
            summary["replay"] = self.gateway.replays.close(session)
        return summary

    async def flush(self) -> int:
        """Commit what was recorded; the number of acknowledged exchanges."""
        return 0 if self.tape is None else await self.tape.flushed()

    def describe(self) -> dict[str, Any]:
        """Counters of the engine, and which sessions are open."""
        stats = self.gateway.stats
        return {
            "sessions": [session.name for session in self.gateway.sessions],
            "live": self.gateway.live,
            "refusing": refusing(self.tape),
            "connections": len(self.proxyserver.connections),
            **stats.counted(),
            "voids": {
                session.name: list(session.voids) for session in self.gateway.sessions if session.voids
            },
            "notes": [
                *stats.strangers.notes,
                *self.gateway.access.notes,
                *self.gateway.sources.notes,
                *(self._runtime.notes if self._runtime is not None else ()),
                *(n for s in self.gateway.sessions.shared for n in s.notes),
            ],
            "fast_handler": self._fast,
            "cpu_s": clock.cpu_s(),
        }

    # ------------------------------------------------------------ the end

    def drain_off(self, within_s: float) -> None:
        """Take no new sessions, and say when none has a connection. Raises UsageError where it is alone."""
        if self._handed is None:
            raise UsageError("found one engine, expected several to drain one of", code="engine.drain")
        self._handed.drain(self._acceptor.open, within_s)

    def stop(self) -> None:
        """Begin to end."""
        self.stopped.set()

    async def drain(self) -> None:
        """Take no more, let what is in flight end, then drop the rest."""
        self.gateway.draining = True
        for server in (*self._servers, *self._session_servers.values()):
            server.close()
        if self._captured is not None:
            await self._captured.end()
        if self._handed is not None:
            self._handed.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.drain_s):
                await self.gateway.idle.wait()
        for handler in list(self.proxyserver.connections.values()):
            handler.abort()  # type: ignore[attr-defined]  # all of ours have it
        if self._acceptor.open:
            await asyncio.wait(list(self._acceptor.open), timeout=1.0)

    async def finish(self) -> None:
        """Commit the tape and let it go."""
        if self._runtime is not None:
            self._runtime.close()
        if self.tape is not None:
            for session in self.gateway.sessions:
                request_balance.settle(session, self.tape)
                self.tape.close_session(session.name)
            await asyncio.get_running_loop().run_in_executor(None, self.tape.close)
