"""A run that was started: it opens and closes the sessions of agents, and gives their histories."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import process_tree
from faultwire.capture.env import child_environment
from faultwire.capture.keys import keyless
from faultwire.capture.netns.environment import inside_environment
from faultwire.capture.traceparent import traced
from faultwire.capture.trust import explained
from faultwire.exchange.tunnel import divide
from faultwire.profile.load import dump
from faultwire.runner.folder import RunFolder
from faultwire.runner.histories import Histories
from faultwire.runner.packets import packet_environment
from faultwire.runner.sharing import Turnstile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.capture.base_url import Plan
    from faultwire.capture.bundle import TrustFiles
    from faultwire.capture.netns.namespace import Namespace
    from faultwire.events import Bypass, History
    from faultwire.mitm.engine.client import SessionHandle, SessionSummary
    from faultwire.mitm.engine.pool import EnginePool
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import SessionAnswers
    from faultwire.runner.packets import PacketOptions


class Run:
    """A started run. Sessions may be opened and closed from several threads."""

    def __init__(
        self,
        folder: RunFolder,
        tape: Path,
        tapes: Sequence[Path],
        engines: EnginePool,
        trust: TrustFiles,
        routes: Mapping[str, str],
        plan: Plan,
        mark: str,
        *,
        base_urls: bool = False,
        keyless: bool = False,
    ) -> None:
        self.folder = folder
        self.tape = tape
        self.tapes = tuple(tapes)
        """What each engine records: the tape itself, or those that it is made of at the end."""
        self.engines = engines
        self.engine = engines.engines[0]
        self.trust = trust
        self.routes = dict(routes)
        self.plan = plan
        self.base_urls = base_urls
        self.keyless = keyless
        self.mark = mark  # of all processes that are started for its agents
        self.upstream: tuple[str, ...] = ()
        """The user's own proxies that servers are called through, without their credentials."""
        self.space: Namespace | None = None
        """The namespaces that its command runs in, and which of its files keep the system's roots."""
        self.unfurnished: tuple[str, ...] = ()
        self.packets: PacketOptions | None = None
        """The tunnel or the interface that connections come by, too."""
        self.shared: Any = None
        """Its sessions and engines (a `SharedProxy`, which knows this class), where clients name them."""
        self.spread = False
        """Do several engines share its address, so that clients have to name their sessions?"""
        self._handles: dict[str, SessionHandle] = {}
        self._lock = threading.Lock()
        self._shared, self._shared_environment = "", dict[str, str]()
        self._histories = [Histories(one) for one in tapes]
        self._turnstile = Turnstile()

    @property
    def proxy_url(self) -> str:
        """The proxy without a user: its traffic belongs to the implicit session, if there is one."""
        host = f"[{self.engine.host}]" if ":" in self.engine.host else self.engine.host
        return f"http://{host}:{self.engine.port}"

    @property
    def own_url(self) -> str:
        """The proxy for the implicit session, with its token where one is needed."""
        if not (self.engine.guarded or self.spread):
            return self.proxy_url
        return self.user_url

    @property
    def user_url(self) -> str:
        """The proxy for the implicit session, with its user and token in any case."""
        return self.proxy_url.replace("//", f"//{self.engine.user}:{self.engine.token}@", 1)

    def open_session(
        self, name: str, profile: Profile, seed: int, dice: str = "", answers: SessionAnswers | None = None
    ) -> Mapping[str, str]:
        """Open a session; the environment that sends a process's traffic through it.

        With `dice`, its decisions are those of the session of that name; `answers` says what of a replayed
        tape answers it, where that is not all of it.

        Once a process is shared (`share`), the session is one of those that share it; one whose faults act
        on connections waits until it is alone.
        """
        if self._shared:
            self._turnstile.enter(name, alone=not divide(profile).idle)
        try:
            handle = self.engines.open_session(
                name, dump(profile), seed, via=self._shared, dice=dice, answers=answers
            )
        except BaseException:
            self._turnstile.leave(name)
            raise
        with self._lock:
            self._handles[name] = handle
        # One process has one environment, however many sessions share it.
        return traced(self._shared_environment or self._environment_of(handle), handle.trace)

    def share(self, name: str, *, unnamed: bool = False) -> Mapping[str, str]:
        """Let all sessions that are opened from now on share one process; the environment to start it in.

        With `unnamed`, we do not start it: what comes to the proxy without a user is of it.
        """
        handle = self.engines.share(name, unnamed=unnamed)
        self._shared = name
        self._shared_environment = self._environment_of(handle)
        return self.environment() if unnamed and not self.base_urls else self._shared_environment

    def _environment_of(self, handle: SessionHandle) -> dict[str, str]:
        given = self.environment(handle.proxy_url, java_port=handle.port, token=handle.token)
        return process_tree.marked(given, self.mark)

    def environment(
        self,
        proxy_url: str | None = None,
        *,
        java_port: int | None = None,
        token: str | None = None,
        base: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The environment of a process whose traffic goes to `proxy_url`, by default the implicit session.

        `token` is the session's, for the routes of base-URL mode.
        """
        given = os.environ if base is None else base
        given = keyless(given) if self.keyless else given
        at = _without_user(proxy_url) if proxy_url else self.proxy_url
        given = self.plan.environment(given, f"{at}/{token or self.engine.token}")
        given["FAULTWIRE_SHIMS"] = str(self.folder.path / "shims")
        if self.packets is not None:
            given |= packet_environment(self.packets, self.trust.ca_cert.parent)
        if self.space is not None:
            return inside_environment(given, self.trust)
        if self.base_urls:
            return given
        return child_environment(
            given,
            proxy_url=proxy_url or self.proxy_url,
            trust=self.trust,
            java_port=java_port if proxy_url else self.engine.port,
        )

    def close_session(self, name: str, bypassed: Sequence[Bypass] = (), more: int = 0) -> SessionSummary:
        """End a session once all of it is on disk; its agent was seen connected to these addresses (and so
        many `more`), the proxy's own among them."""
        try:
            summary = self.engines.close_session(name, bypassed, more)
        finally:
            self._turnstile.leave(name)
        with self._lock:
            self._handles.pop(name, None)
        failed = summary.handshakes
        voids, notes = explained(summary.voids, failed), explained(summary.notes, failed)
        return replace(summary, voids=voids, notes=notes)

    def history(self, name: str) -> History:
        """The traffic of a closed session, read from the tape."""
        return self._histories[self.engines.number_of(name)].read(name)

    def close_tapes(self) -> None:
        """Let the tapes go, before their engines end."""
        for each in self._histories:
            each.close()

    def notes(self) -> tuple[str, ...]:
        """What traffic there was that belongs to no session, in words."""
        return self.engines.notes()

    def ledger_hash(self) -> str:
        """One hash over every fault decision that is on the tape, or on those that it is made of."""
        from faultwire.tape.read.reader import TapeReader

        with ExitStack() as stack:
            first, *others = [stack.enter_context(TapeReader.open(tape)) for tape in self.tapes]
            return first.ledger_hash(*others)


def _without_user(proxy_url: str) -> str:
    """Where the engine of a session listens."""
    scheme, _, rest = proxy_url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
