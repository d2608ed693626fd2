"""The engine: mitmproxy in a program of our own, with only the parts that an exchange needs.

No mitmproxy server, dumper or logger runs: we accept connections ourselves and hand each to a handler
of `compat`. One process, one event loop without eager tasks, one tape.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from mitmproxy.addons.core import Core
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.master import Master
from mitmproxy.options import Options
from mitmproxy.proxy import mode_specs
from mitmproxy.proxy.layers import modes

from faultwire import clock
from faultwire.dice import Dice
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm import ca, compat, trust
from faultwire.mitm.addon import FaultwireAddon
from faultwire.mitm.limits import Guard
from faultwire.passage import SessionContext
from faultwire.profile.dump import from_dump
from faultwire.session import SessionState
from faultwire.tape.redact import load_key
from faultwire.tape.store import TapeWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.mitm.ca import Authority
    from faultwire.mitm.sessions import Session
    from faultwire.mitm.settings import EngineSettings, SessionSettings

SESSION_END_S = 2.0
"""How long a session that is closed may take to end what it has in flight."""


LOGGERS = ("mitmproxy", "asyncio", "hpack", "h2", "hyperframe", "wsproto")
"""Who else logs in this process."""


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop whose look-ups leave only addresses that may be connected to. The connection then
    goes to one of these, so that a name cannot change its mind in between."""

    guard: Guard | None = None

    async def getaddrinfo(self, host: Any, port: Any, **arguments: Any) -> Any:
        """As in asyncio. Raises limits.Refused where no allowed address is left."""
        infos: Any = await super().getaddrinfo(host, port, **arguments)
        if self.guard is None or not isinstance(host, str):
            return infos
        return self.guard.filter(host, int(port or 0), infos)


class Engine:
    """One engine, from settings to its end. Raises UsageError or FaultwireError from `start`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.stopped = asyncio.Event()
        self.port = 0
        self._servers: list[asyncio.Server] = []
        self._session_servers: dict[str, asyncio.Server] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take CA, tape and port, in an order that leaves nothing behind where one is refused."""
        settings = self.settings
        compat.check()
        compat.install()
        host, port = settings.address
        self.authority: Authority = ca.ensure(settings.ca_dir)
        bundle = trust.write_bundle(settings.run_dir / "upstream-roots.pem", settings.upstream_ca)
        server = await self._listen(host, port, partial(self._accept))
        self._servers.append(server)
        self.port = server.sockets[0].getsockname()[1]
        self.tape = self._open_tape()
        self.addon = FaultwireAddon(
            guard=Guard.of(settings.allow_hosts, settings.routes),
            routes=settings.routes,
            tape=self.tape,
            max_exchanges=settings.max_exchanges,
            head_timeout_s=settings.head_timeout_s,
            loop_guards=True,
        )
        self.addon.guard.listeners.add(self.port)
        loop = asyncio.get_running_loop()
        if isinstance(loop, GuardedLoop):
            loop.guard = self.addon.guard
        await self._start_mitmproxy(str(bundle))
        if settings.implicit is not None:
            session = self._open(settings.implicit)
            self.addon.sessions.implicit = session
        await server.start_serving()

    def _open_tape(self) -> TapeWriter | None:
        settings = self.settings
        if settings.tape is None:
            return None
        state = settings.ca_dir.parent
        return TapeWriter.create(
            settings.tape,
            origin=f"{state.parent.name or 'project'}/{settings.tape.stem}",
            settings=settings.tape_settings,
            key=load_key(state / "keys" / "redaction.key"),
            journal=settings.run_dir / "events.jsonl",
        )

    async def _start_mitmproxy(self, bundle: str) -> None:
        options = Options(confdir=str(self.settings.ca_dir), server=False, rawtcp=False)
        self.master = Master(options)
        self.proxyserver = Proxyserver()
        self.master.addons.add(Core(), self.proxyserver, self.addon, compat.Leaves())
        options.update(
            connection_strategy="lazy",
            ssl_verify_upstream_trusted_ca=bundle,
            add_upstream_certs_to_client_chain=False,
            upstream_cert=False,
        )
        await self.master.running()
        _quiet(self.addon)
        self._mode = mode_specs.ProxyMode.parse("regular")
        self._hooks = compat.Hooks(self.master.addons.chain)
        self._fast = await compat.fast_handler_works(self.master, self._mode)

    # ------------------------------------------------------------ connections

    async def _listen(self, host: str, port: int, accept: Callable[..., Any]) -> asyncio.Server:
        try:
            return await asyncio.start_server(accept, host, port, start_serving=False, backlog=512)
        except OSError as error:
            raise UsageError(
                f"`{host}:{port}` cannot be listened on: {error.strerror or error}",
                code="engine.port",
                hint="another program has it; choose another `--listen`, or port 0 for a free one",
            ) from error

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kind: Any = partial(compat.FastHandler, hooks=self._hooks) if self._fast else compat.SafeHandler
        handler = kind(self.master, reader, writer, self.master.options, self._mode, self.addon)
        handler.layer = modes.HttpProxy(handler.layer.context)
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        with self.proxyserver.register_connection(handler.client.id, handler):
            await handler.handle_client()

    # ------------------------------------------------------------ sessions

    async def open_session(self, settings: SessionSettings) -> dict[str, Any]:
        """Open a session with a listener of its own."""
        host, _ = self.settings.address
        # The listener first: a name that was opened is on the tape and cannot be opened again.
        server = await self._listen(host, 0, self._accept)
        with ExitStack() as undo:
            undo.callback(server.close)
            session = self._open(settings)
            undo.pop_all()
        port: int = server.sockets[0].getsockname()[1]
        self.addon.guard.listeners.add(port)
        self.addon.sessions.listen(session, port)
        self._session_servers[session.name] = server
        await server.start_serving()
        return {"user": session.user, "token": session.token, "port": port}

    def _open(self, settings: SessionSettings) -> Session:
        profile = from_dump(settings.profile)
        dice = Dice(settings.seed, settings.name)
        context = SessionContext(settings.name, profile, dice, SessionState())
        session = self.addon.sessions.open(context, settings.agent)
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
                self.addon.sessions.close(session)
                raise
        return session

    async def close_session(self, name: str) -> dict[str, Any]:
        """End what the session has in flight, commit it, and say what it did."""
        session = self.addon.sessions.named(name)
        if session.closing:
            raise UsageError(f"the session `{name}` is being closed already", code="engine.session")
        session.closing = True
        server = self._session_servers.pop(name, None)
        if server is not None:
            server.close()
        await self.addon.end_session(session, SESSION_END_S)
        self.addon.sessions.close(session)
        self.addon.guard.listeners.discard(session.port)
        acknowledged = 0
        if self.tape is not None:
            self.tape.close_session(name)
            await self.flush()
            if self.tape.failed is None:
                acknowledged = session.exchanges
            else:
                session.void(f"the tape cannot be written: {self.tape.failed}")
        return session.summary(acknowledged)

    async def flush(self) -> int:
        """Commit what was recorded; the number of acknowledged exchanges."""
        if self.tape is None:
            return 0
        return await asyncio.get_running_loop().run_in_executor(None, self.tape.flush)

    def describe(self) -> dict[str, Any]:
        """Counters of the engine, and which sessions are open."""
        stats = self.addon.stats
        return {
            "sessions": [session.name for session in self.addon.sessions],
            "live": self.addon.live,
            "connections": len(self.proxyserver.connections),
            "exchanges": stats.exchanges,
            "refused": stats.refused,
            "malformed": stats.malformed,
            "websockets": stats.websockets,
            "websocket_messages": stats.websocket_messages,
            "slow_heads": stats.slow_heads,
            "voided": stats.voided,
            "voids": {session.name: list(session.voids) for session in self.addon.sessions if session.voids},
            "fast_handler": self._fast,
            "cpu_s": clock.cpu_s(),
        }

    # ------------------------------------------------------------ the end

    def stop(self) -> None:
        """Begin to end."""
        self.stopped.set()

    async def drain(self) -> None:
        """Take no more, let what is in flight end, then drop the rest."""
        self.addon.draining = True
        for server in (*self._servers, *self._session_servers.values()):
            server.close()
        try:
            async with asyncio.timeout(self.settings.drain_s):
                await self.addon.idle.wait()
        except TimeoutError:
            pass
        for handler in list(self.proxyserver.connections.values()):
            handler.abort()  # type: ignore[attr-defined]  # all of ours have it
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=1.0)

    async def finish(self) -> None:
        """Commit the tape and let it go."""
        if self.tape is not None:
            for session in self.addon.sessions:
                self.tape.close_session(session.name)
            await asyncio.get_running_loop().run_in_executor(None, self.tape.close)


def raise_file_limit() -> None:
    """A stream takes two descriptors; the soft limit is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Logged(Exception):
    """Something was logged as an error, and no exception with it."""


class _Crashes(logging.Handler):
    """Libraries log their own failures and go on; to us they void the run. No text is kept of them."""

    def __init__(self, addon: FaultwireAddon) -> None:
        super().__init__(logging.ERROR)
        self._addon = addon

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging."""
        error = record.exc_info[1] if record.exc_info else None
        self._addon.crashed(None, error or Logged())


def _quiet(addon: FaultwireAddon) -> None:
    """Log our own errors only: the messages of these quote traffic."""
    crashes = _Crashes(addon)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
        logger.addHandler(crashes)
