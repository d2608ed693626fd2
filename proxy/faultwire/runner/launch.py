"""Starts a run's folder, mock and engine in order, and stops them in reverse.

`exec`, `proxy`, `doctor` and `demo` all start here, so that every command gives an agent the same
environment.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.capture.base_url import plan
from faultwire.capture.bundle import write_trust
from faultwire.dice import token
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.captured_settings import NamespaceSettings
from faultwire.mitm.engine.client import StartingEngine
from faultwire.mitm.engine.pool import EnginePool
from faultwire.mitm.settings import EngineSettings, RadiusSettings, SessionSettings
from faultwire.profile.load import dump
from faultwire.runner import namespaced, packets, several_engines
from faultwire.runner.folder import RunFolder, private_dir
from faultwire.runner.hosts import allowed
from faultwire.runner.launch_settings import (
    LaunchSettings as LaunchSettings,
    new_tape_settings,
    upstream_proxies,
)
from faultwire.runner.shared_proxy import SharedProxy
from faultwire.runner.started_run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator


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
                folder.end("void", error=error.code, why=error.message)
            else:
                shutil.rmtree(folder.path)
            raise
        except FaultwireError as error:
            folder.end("void", error=error.code, why=error.message)
            raise
        except KeyboardInterrupt:
            folder.end("interrupted")
            raise
        several = len(run.tapes) > 1
        folder.note(
            # One that is made of several is there when they have ended.
            **({"tapes": [str(tape) for tape in run.tapes]} if several else {"tape": str(run.tape)}),
            **(
                {
                    "engine_pids": [engine.pid for engine in run.engines.engines],
                    "controls": [str(engine.control) for engine in run.engines.engines],
                }
                if several
                else {}
            ),
            port=run.engine.port,
            control=str(run.engine.control),
            engine_pid=run.engine.pid,
            pid=os.getpid(),
        )
        try:
            yield run
            lost = run.engines.lost()
            stack.close()
            if lost is not None:
                raise lost
            several_engines.join_tapes(run.tapes, run.tape, settings.base)
            if several:
                folder.note(tape=str(run.tape))
        except FaultwireError as error:
            folder.end("void", error=error.code, why=error.message)
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
    script = _existing(settings.script, "--script")
    upstream_ca = _existing(settings.upstream_ca, "--upstream-ca")
    client_certs = {host: path.absolute() for host, path in settings.client_certs}
    implicit = None
    if settings.implicit is not None:
        name, profile, seed = settings.implicit
        implicit = SessionSettings(name=name, profile=dump(profile), seed=seed)
    # A clock that stands still in the past needs certificates that were valid then.
    ca_dir = settings.base / ("ca" if settings.frozen is None else "ca-frozen")
    routed = plan(os.environ, settings.reverse, providers=settings.base_urls, mock=settings.mock)
    wanted = settings.namespace
    space = namespaced.started(wanted, settings.allow_hosts, os.environ, stack) if wanted else None
    inside = namespaced.engine_settings(space, wanted) if space and wanted else redirected(settings)
    clients = several_engines.clients_of(settings)
    spreader = several_engines.spreader_of(settings, clients, stack)
    first = several_engines.handed(spreader, 1)
    # Its imports take longer than the mock's whole start, and need no settings.
    starting = stack.enter_context(
        StartingEngine(folder.path.absolute(), (*(inside.descriptors if inside else ()), *first))
    )
    others = several_engines.starting_others(folder, settings.engines, stack, spreader)
    tapes = several_engines.tapes_of(folder, tape, settings.engines)
    routes = _start_mock(script, folder, stack) if settings.mock else {}
    mark = token()
    made = EngineSettings(
        run_dir=folder.path.absolute(),
        agents=mark,
        ca_dir=ca_dir.absolute(),
        covers=settings.frozen.instant if settings.frozen else None,
        listen=settings.listen if spreader is None else spreader.address,
        handed=first[0] if first else None,
        clients=clients,
        auth=settings.auth,
        tape=tapes[0].absolute(),
        record_policy=settings.record_policy,
        on_tape_failure=settings.on_tape_failure,
        redact=dict(settings.redact),
        encrypt_bodies=settings.encrypt_bodies,
        replay=settings.replay,
        tape_settings=new_tape_settings(settings),
        upstream_ca=upstream_ca,
        client_certs=client_certs,
        routes=routes,
        reverse=dict(routed.routes),
        allow_hosts=allowed(settings.allow_hosts),
        local_only=settings.mock,
        remote_hosts=settings.mock_except,
        upstream_proxies=proxies,
        implicit=implicit,
        radius=settings.radius or RadiusSettings(),
        namespace=inside,
        packets=packets.engine_settings(settings.packets, ca_dir) if settings.packets else None,
    )
    engine = stack.enter_context(starting.configure(made))
    engines = EnginePool([engine, *several_engines.start_others(others, made, tapes, stack, spreader)])
    trust = write_trust(ca_dir, engine.ca_pem, os.environ)
    offline = settings.mock or (settings.replay is not None and settings.replay.offline)
    ways = (routes, routed, mark)
    run = Run(folder, tape, tapes, engines, trust, *ways, base_urls=settings.base_urls, keyless=offline)
    if clients is not None:
        run.shared = SharedProxy(run, spreader)
    if spreader is not None:
        run.spread = True
        spreader.start()
    run.upstream = proxies.urls if proxies is not None else ()
    if space is not None and wanted is not None:
        run.space = space
        run.unfurnished = namespaced.furnish(space, wanted, trust, folder.path, os.environ)
    run.packets = settings.packets
    stack.callback(run.close_tapes)
    return run


def redirected(settings: LaunchSettings) -> NamespaceSettings | None:
    """What the engine takes of connections that are redirected to it, if any are. Raises UsageError."""
    if settings.redirected is None or settings.implicit is None:
        return None
    if sys.platform != "linux":
        raise UsageError(
            f"found `--redirected` on `{sys.platform}`, expected Linux",
            code="usage.redirected",
            hint="where a connection was meant to go is asked of Linux's packet filter",
        )
    name = settings.implicit[0]
    return NamespaceSettings(
        session=name,
        listeners=(),
        relays=allowed(settings.relays),
        ipv6=_has_ipv6(),
        redirected=settings.redirected,
    )


def _has_ipv6() -> bool:
    """Has loopback its IPv6 address? It may be turned off."""
    try:
        return "lo" in Path("/proc/net/if_inet6").read_text(encoding="ascii").split()
    except OSError:
        return False


def _start_mock(script: Path | None, folder: RunFolder, stack: ExitStack) -> dict[str, str]:
    from faultwire.mock.client import Mock

    mock = stack.enter_context(Mock.start(script=script, log=folder.path / "mock.log"))
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
