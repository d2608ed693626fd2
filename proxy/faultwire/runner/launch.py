"""Starts a run's folder, mock and engine in order, and stops them in reverse.

`exec`, `proxy`, `doctor` and `demo` all start here, so that every command gives an agent the same
environment.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.capture.base_url import plan
from faultwire.capture.bundle import write_trust
from faultwire.capture.env import child_environment
from faultwire.capture.keys import keyless
from faultwire.capture.traceparent import traced
from faultwire.capture.trust import explained
from faultwire.errors import FaultwireError, UsageError
from faultwire.exchange.tunnel import divide
from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.profile.load import dump
from faultwire.runner import closed_tape
from faultwire.runner.folder import RunFolder, private_dir
from faultwire.runner.histories import Histories
from faultwire.runner.hosts import allowed
from faultwire.runner.launch_settings import LaunchSettings as LaunchSettings, upstream_proxies
from faultwire.runner.sharing import Turnstile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.capture.base_url import Plan
    from faultwire.capture.bundle import TrustFiles
    from faultwire.events import Bypass, History
    from faultwire.mitm.engine.client import SessionHandle, SessionSummary
    from faultwire.profile.model import Profile


class Run:
    """A started run. Sessions may be opened and closed from several threads."""

    def __init__(
        self,
        folder: RunFolder,
        tape: Path,
        engine: Engine,
        trust: TrustFiles,
        routes: Mapping[str, str],
        plan: Plan,
        *,
        base_urls: bool = False,
        keyless: bool = False,
    ) -> None:
        self.folder = folder
        self.tape = tape
        self.engine = engine
        self.trust = trust
        self.routes = dict(routes)
        self.plan = plan
        self.base_urls = base_urls
        self.keyless = keyless
        self.upstream: tuple[str, ...] = ()
        """The user's own proxies that servers are called through, without their credentials."""
        self._handles: dict[str, SessionHandle] = {}
        self._lock = threading.Lock()
        self._shared = ""
        self._shared_environment: Mapping[str, str] = {}
        self.histories = Histories(tape)
        self._turnstile = Turnstile()

    @property
    def proxy_url(self) -> str:
        """The proxy without a user: its traffic belongs to the implicit session, if there is one."""
        host = f"[{self.engine.host}]" if ":" in self.engine.host else self.engine.host
        return f"http://{host}:{self.engine.port}"

    @property
    def own_url(self) -> str:
        """The proxy for the implicit session, with its token where one is needed."""
        if not self.engine.guarded:
            return self.proxy_url
        return self.proxy_url.replace("//", f"//{self.engine.user}:{self.engine.token}@", 1)

    def open_session(self, name: str, profile: Profile, seed: int, dice: str = "") -> Mapping[str, str]:
        """Open a session; the environment that sends a process's traffic through it.

        With `dice`, its decisions are those of the session of that name.

        Once a process is shared (`share`), the session is one of those that share it; one whose faults act
        on connections waits until it is alone.
        """
        if self._shared:
            self._turnstile.enter(name, alone=not divide(profile).idle)
        try:
            handle = self.engine.open_session(name, dump(profile), seed, via=self._shared, dice=dice)
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
        handle = self.engine.share(name, unnamed=unnamed)
        self._shared = name
        self._shared_environment = self._environment_of(handle)
        return self.environment() if unnamed and not self.base_urls else self._shared_environment

    def _environment_of(self, handle: SessionHandle) -> dict[str, str]:
        return self.environment(handle.proxy_url, java_port=handle.port, token=handle.token)

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
        given = self.plan.environment(given, f"{self.proxy_url}/{token or self.engine.token}")
        given["FAULTWIRE_SHIMS"] = str(self.folder.path / "shims")
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
            summary = self.engine.close_session(name, bypassed, more)
        finally:
            self._turnstile.leave(name)
        with self._lock:
            self._handles.pop(name, None)
        failed = summary.handshakes
        voids, notes = explained(summary.voids, failed), explained(summary.notes, failed)
        return replace(summary, voids=voids, notes=notes)

    def history(self, name: str) -> History:
        """The traffic of a closed session, read from the tape."""
        return self.histories.read(name)

    def ledger_hash(self) -> str:
        """One hash over every fault decision that is on the tape."""
        from faultwire.tape.read.reader import TapeReader

        with TapeReader.open(self.tape) as tape:
            return tape.ledger_hash()


@contextmanager
def start_run(settings: LaunchSettings, folder: RunFolder | None = None) -> Iterator[Run]:
    """Start folder, mock and engine; stop them at the end, however it comes. With the `folder` of an
    earlier part of the same run, it goes on there.

    An error or Ctrl-C inside is written into `run.json`; a regular end is for the caller to write.

    Raises:
        UsageError: something that was asked for cannot be had (port taken, CA expired, tape there
            already); no run folder is left behind.
        FaultwireError: faultwire itself failed.
    """
    tape = None if settings.tape is None else fresh_tape(settings.tape, settings.base)
    going_on = folder is not None
    if folder is None:
        folder = RunFolder.create(settings.command, base=settings.base, status="running", **settings.about)
    named = folder.path / settings.tape_name if settings.tape_name else folder.tape
    with ExitStack() as stack:
        try:
            run = _start(settings, folder, tape or named, stack)
        except UsageError as error:
            stack.close()
            if going_on:
                folder.end("void", error=error.code)
            else:
                shutil.rmtree(folder.path)
            raise
        except FaultwireError as error:
            folder.end("void", error=error.code)
            raise
        except KeyboardInterrupt:
            folder.end("interrupted")
            raise
        folder.note(
            tape=str(run.tape),
            port=run.engine.port,
            control=str(run.engine.control),
            engine_pid=run.engine.pid,
            pid=os.getpid(),
        )
        try:
            yield run
            stack.close()
            closed_tape.check(run.tape)
        except FaultwireError as error:
            folder.end("void", error=error.code)
            raise
        except KeyboardInterrupt:
            folder.end("interrupted")
            raise


def _start(settings: LaunchSettings, folder: RunFolder, tape: Path, stack: ExitStack) -> Run:
    if settings.mock_except and not settings.mock:
        raise UsageError(
            "found `--mock-except` without `--mock`, expected both",
            code="usage.mock_except",
            hint="it names hosts that the mock leaves to the real servers",
        )
    proxies = upstream_proxies(settings)
    routes = _start_mock(settings, folder, stack) if settings.mock else {}
    implicit = None
    if settings.implicit is not None:
        name, profile, seed = settings.implicit
        implicit = SessionSettings(name=name, profile=dump(profile), seed=seed)
    # A clock that stands still in the past needs certificates that were valid then.
    ca_dir = settings.base / ("ca" if settings.frozen is None else "ca-frozen")
    routed = plan(os.environ, settings.reverse, providers=settings.base_urls, mock=settings.mock)
    engine = stack.enter_context(
        Engine.start(
            EngineSettings(
                run_dir=folder.path.absolute(),
                ca_dir=ca_dir.absolute(),
                covers=settings.frozen.instant if settings.frozen else None,
                listen=settings.listen,
                auth=settings.auth,
                tape=tape.absolute(),
                record_policy=settings.record_policy,
                on_tape_failure=settings.on_tape_failure,
                redact=dict(settings.redact),
                replay=settings.replay,
                tape_settings=_tape_settings(settings),
                upstream_ca=_existing(settings.upstream_ca, "--upstream-ca"),
                routes=routes,
                reverse=dict(routed.routes),
                allow_hosts=allowed(settings.allow_hosts),
                local_only=settings.mock,
                remote_hosts=settings.mock_except,
                upstream_proxies=proxies,
                implicit=implicit,
            )
        )
    )
    trust = write_trust(ca_dir, engine.ca_pem, os.environ)
    offline = settings.mock or (settings.replay is not None and settings.replay.offline)
    run = Run(folder, tape, engine, trust, routes, routed, base_urls=settings.base_urls, keyless=offline)
    run.upstream = proxies.urls if proxies is not None else ()
    stack.callback(run.histories.close)
    return run


def _tape_settings(settings: LaunchSettings) -> dict[str, Any]:
    """A new tape's record of the replayed tape and of its masks."""
    from faultwire.replay.reader import tape_settings

    frozen = {"frozen": settings.frozen.settings()} if settings.frozen else {}
    if settings.replay is not None:
        return {**tape_settings(settings.replay), **frozen}
    return {**({"masks": list(settings.masks)} if settings.masks else {}), **frozen}


def _start_mock(settings: LaunchSettings, folder: RunFolder, stack: ExitStack) -> dict[str, str]:
    from faultwire.mock.client import Mock

    mock = stack.enter_context(
        Mock.start(script=_existing(settings.script, "--script"), log=folder.path / "mock.log")
    )
    return dict(mock.routes)


def fresh_tape(requested: Path, base: Path) -> Path:
    """Where a tape that the user named goes: a bare name lives below `tapes/`.

    Raises UsageError where it exists: a tape is evidence and is never overwritten.
    """
    path = requested
    if requested.parent == Path() and not requested.suffix:
        path = private_dir(base / "tapes") / f"{requested.name}.tape"
    if path.exists():
        raise UsageError(
            f"found a tape at `{path}`, expected a new name",
            code="tape.exists",
            hint="a tape is never overwritten: choose another name, or remove it",
        )
    if not path.parent.is_dir():
        raise UsageError(f"found no folder `{path.parent}`, expected one for the tape", code="tape.no_folder")
    return path


def _existing(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"found no file `{path}`, expected one for `{option}`", code="usage.file")
    return path.absolute() if path is not None else None
