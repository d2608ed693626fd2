"""Everything that a run stands on, started in order and ended in reverse: folder, mock, engine.

`exec`, `proxy`, `doctor` and `demo` all start here, so that an agent meets the same world whoever
drives it.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.capture.base_url import plan
from faultwire.capture.bundle import write_trust
from faultwire.capture.env import child_environment
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.client import Engine
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.profile.load import dump
from faultwire.runner.folder import STATE, RunFolder, private_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.capture.base_url import Plan
    from faultwire.capture.bundle import TrustFiles
    from faultwire.events import History
    from faultwire.mitm.client import SessionHandle, SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import ReplaySettings
    from faultwire.tape.policy import FailurePolicy, RecordPolicy

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine: allowing `localhost` allows them all."""


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """What to start. `tape` None records into the run's folder; `implicit` is the session (name,
    profile, seed) of traffic that names none; `reverse` are routes (name to base URL) that the user
    declared, and `base_urls` sends agents to us by base URL in place of a proxy; `about` goes into
    `run.json`."""

    command: str
    listen: str = "127.0.0.1:0"
    tape: Path | None = None
    mock: bool = False
    script: Path | None = None
    allow_hosts: tuple[str, ...] = ()
    upstream_ca: Path | None = None
    implicit: tuple[str, Profile, int] | None = None
    reverse: Mapping[str, str] = field(default_factory=dict)
    base_urls: bool = False
    record_policy: RecordPolicy = "block"
    on_tape_failure: FailurePolicy = "fail"
    redact: Mapping[str, Any] = field(default_factory=dict)
    replay: ReplaySettings | None = None
    base: Path = STATE
    about: Mapping[str, Any] = field(default_factory=dict)


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
    ) -> None:
        self.folder = folder
        self.tape = tape
        self.engine = engine
        self.trust = trust
        self.routes = dict(routes)
        self.plan = plan
        self.base_urls = base_urls
        self._handles: dict[str, SessionHandle] = {}
        self._lock = threading.Lock()

    @property
    def proxy_url(self) -> str:
        """The proxy without a user: its traffic belongs to the implicit session, if there is one."""
        host = f"[{self.engine.host}]" if ":" in self.engine.host else self.engine.host
        return f"http://{host}:{self.engine.port}"

    def open_session(self, name: str, profile: Profile, seed: int) -> Mapping[str, str]:
        """Open a session; the environment that sends a process's traffic through it."""
        handle = self.engine.open_session(name, dump(profile), seed)
        with self._lock:
            self._handles[name] = handle
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

    def close_session(self, name: str) -> SessionSummary:
        """End a session once all of it is on disk."""
        summary = self.engine.close_session(name)
        with self._lock:
            self._handles.pop(name, None)
        return summary

    def history(self, name: str) -> History:
        """The traffic of a closed session, read from the tape."""
        from faultwire.tape.read import TapeReader

        with TapeReader.open(self.tape) as tape:
            return tape.history(name)

    def ledger_hash(self) -> str:
        """One hash over every fault decision that is on the tape."""
        from faultwire.tape.read import TapeReader

        with TapeReader.open(self.tape) as tape:
            return tape.ledger_hash()


@contextmanager
def start_run(settings: LaunchSettings) -> Iterator[Run]:
    """Start folder, mock and engine; stop them at the end, however it comes.

    An error or Ctrl-C inside is written into `run.json`; a regular end is for the caller to write.

    Raises:
        UsageError: something that was asked for cannot be had (port taken, CA expired, tape there
            already); no run folder is left behind.
        FaultwireError: something of ours failed.
    """
    tape = None if settings.tape is None else fresh_tape(settings.tape, settings.base)
    folder = RunFolder.create(settings.command, base=settings.base, status="running", **settings.about)
    with ExitStack() as stack:
        try:
            run = _start(settings, folder, tape or folder.tape, stack)
        except UsageError:
            stack.close()
            shutil.rmtree(folder.path)
            raise
        except FaultwireError as error:
            folder.end("void", error=error.code)
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
        except FaultwireError as error:
            folder.end("void", error=error.code)
            raise
        except KeyboardInterrupt:
            folder.end("interrupted")
            raise


def _start(settings: LaunchSettings, folder: RunFolder, tape: Path, stack: ExitStack) -> Run:
    routes = _start_mock(settings, folder, stack) if settings.mock else {}
    implicit = None
    if settings.implicit is not None:
        name, profile, seed = settings.implicit
        implicit = SessionSettings(name=name, profile=dump(profile), seed=seed)
    ca_dir = settings.base / "ca"
    routed = plan(os.environ, settings.reverse, providers=settings.base_urls, mock=settings.mock)
    engine = stack.enter_context(
        Engine.start(
            EngineSettings(
                run_dir=folder.path.absolute(),
                ca_dir=ca_dir.absolute(),
                listen=settings.listen,
                tape=tape.absolute(),
                record_policy=settings.record_policy,
                on_tape_failure=settings.on_tape_failure,
                redact=dict(settings.redact),
                replay=settings.replay,
                tape_settings=_said_of(settings.replay),
                upstream_ca=_existing(settings.upstream_ca, "--upstream-ca"),
                routes=routes,
                reverse=dict(routed.routes),
                allow_hosts=allowed(settings.allow_hosts),
                implicit=implicit,
            )
        )
    )
    trust = write_trust(ca_dir, engine.ca_pem, os.environ)
    return Run(folder, tape, engine, trust, routes, routed, base_urls=settings.base_urls)


def _said_of(replay: ReplaySettings | None) -> dict[str, Any]:
    """What a new tape says of the one that answered, and of what counted for nothing."""
    if replay is None:
        return {}
    return {"made_by": "replay", "made_of": [{"tape": replay.tape.name}], "masks": list(replay.masks)}


def _start_mock(settings: LaunchSettings, folder: RunFolder, stack: ExitStack) -> dict[str, str]:
    from faultwire.mock.client import Mock

    mock = stack.enter_context(
        Mock.start(script=_existing(settings.script, "--script"), log=folder.path / "mock.log")
    )
    return dict(mock.routes)


def allowed(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The hosts to allow, with every name of this machine where one is named."""
    wanted: list[str] = []
    for host in hosts:
        name, port = _split(host)
        names = LOOPBACK if name in LOOPBACK else (name,)
        wanted += [f"{each}:{port}" if port else each for each in names]
    return tuple(dict.fromkeys(wanted))


def _split(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name.lower(), rest.removeprefix(":")
    if host.count(":") == 1:
        name, _, port = host.partition(":")
        return name.lower(), port
    return host.lower(), ""


def fresh_tape(wanted: Path, base: Path) -> Path:
    """Where a tape that the user named goes: a bare name lives below `tapes/`.

    Raises UsageError where it exists: a tape is evidence and is never written over.
    """
    path = wanted
    if wanted.parent == Path() and not wanted.suffix:
        path = private_dir(base / "tapes") / f"{wanted.name}.tape"
    if path.exists():
        raise UsageError(
            f"found a tape at `{path}`, expected a new name",
            code="tape.exists",
            hint="a tape is never written over: give another name, or remove it",
        )
    if not path.parent.is_dir():
        raise UsageError(f"found no folder `{path.parent}`, expected one for the tape", code="tape.no_folder")
    return path


def _existing(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"found no file `{path}`, expected one for `{option}`", code="usage.file")
    return path.absolute() if path is not None else None
