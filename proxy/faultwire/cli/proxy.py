"""`faultwire proxy`: the proxy for an agent that is started elsewhere."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from faultwire import clock
from faultwire.cli._engine_options import engines_option
from faultwire.cli._namespaced import relay_option
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._packets import instructions_of, packet_options, packets
from faultwire.cli._store_options import upload_options
from faultwire.cli._ui_options import UiOptions, ui_options
from faultwire.cli.options import Traffic, traffic_options
from faultwire.cli.output import format_option
from faultwire.cli.replay_options import live_options

if TYPE_CHECKING:
    from faultwire.cli._proxy_engines import LostEngines
    from faultwire.cli._upload import Upload
    from faultwire.runner.shared_proxy import SharedProxy
    from faultwire.runner.started_run import Run

SESSION = "proxy"
DRAIN_S = 5.0
_ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
LOOK_S = 0.5
"""Seconds after which a signal that another thread got is seen."""


def as_address(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    """`HOST:PORT` as a pair. Called by click. Raises BadParameter."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"found `{value}`, expected `HOST:PORT` such as `0.0.0.0:8081`")
    return host.strip("[]"), int(port)


@click.command(
    "proxy", cls=SectionedCommand, short_help="Run the proxy for an agent that is started elsewhere."
)
@traffic_options
@live_options
@ui_options
@upload_options
@click.option(
    "--control-sessions",
    type=click.IntRange(1),
    metavar="N",
    help="Let `faultwire control` touch this many sessions at most.",
)
@click.option(
    "--control-share",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Let `faultwire control` touch this share of sessions at most.",
)
@click.option(
    "--control-calls",
    type=click.IntRange(1),
    metavar="N",
    help="Let faults of `faultwire control` fire on this many calls at most.",
)
@click.option(
    "--redirected",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Also take connections that a packet filter redirects to this port of loopback (Linux), from every "
    "process, without a token.",
)
@packet_options
@relay_option("With --redirected, or --capture tun or wireguard")
@click.option(
    "--health",
    callback=as_address,
    metavar="HOST:PORT",
    help="Answer /healthz and /readyz here, for whoever supervises the proxy.",
)
@partial(engines_option, what="Serve the sessions that clients name by")
@format_option
def proxy(
    format_: str,
    redirected: int | None,
    wireguard_listen: tuple[str, int] | None,
    tun_device: str | None,
    relay: tuple[str, ...],
    health: tuple[str, int] | None,
    control_sessions: int | None,
    control_share: float | None,
    control_calls: int | None,
    engines: int | str,
    ui: UiOptions,
    upload: Upload,
    **options: Any,
) -> None:
    """Run the proxy for an agent that is started elsewhere, until it is stopped.

    Prints the exports that send a shell's programs to the proxy (`faultwire env` prints them again),
    then waits. SIGTERM or Ctrl-C gives calls in flight up to five seconds to finish; a second signal
    stops at once. Traffic without a session of its own belongs to one common session; a client names its
    own behind the proxy's user or token (`faultwire env --session NAME`). `faultwire control` arms faults
    while it runs, within the limits given here.
    """
    from faultwire.cli._proxy_engines import LostEngines, count_of
    from faultwire.cli._summary import header, summary
    from faultwire.cli.output import say
    from faultwire.cli.replay_options import import_findings, print_replay
    from faultwire.errors import FaultError, UsageError
    from faultwire.mitm.settings import RadiusSettings
    from faultwire.runner.health import serving
    from faultwire.runner.launch import start_run

    traffic = Traffic(**options)
    controls = {"sessions": control_sessions, "share": control_share, "calls": control_calls}
    alone: dict[str, Any] = {f"control_{name}": value for name, value in controls.items()}
    wanted = packets(traffic.capture, SESSION, wireguard_listen, tun_device, relay)
    alone |= {"ui": ui.wanted, "redirected": redirected, "packets": wanted}
    count = count_of(engines, {**options, **alone})
    profile = traffic.load()
    implicit = (SESSION, profile, traffic.seed)
    settings = traffic.launch("proxy", profile=profile, implicit=implicit, redirected=redirected)
    if relay and wanted is None and redirected is None:
        raise UsageError(
            "found `--relay` without `--redirected`, `--capture tun` or `--capture wireguard`, expected one",
            code="usage.capture",
        )
    settings = replace(settings, radius=RadiusSettings(**controls), engines=count, client_sessions=True)
    with (
        serving(health) as probed,
        start_run(replace(settings, packets=wanted, relays=relay)) as run,
        ui.beside(run),
        upload.beside(run),
    ):
        ending = _Elsewhere()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING | {signal.SIGCHLD})
        _announce(run, format_)
        say(header(run, profile, traffic))
        for line in (*instructions_of(run), *_who_may_use_it(run, traffic)):
            say(line)
        say("ready")
        probed.started(lambda: [engine.control for engine in run.engines.kept])
        ended_by = _wait_for_signal(LostEngines(run), ending)
        probed.ending = True
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        ending.leave()
        _let_end(run)
        shared = _shared(run)
        notes_of_run = run.notes()
        closed = shared.close()
        ledger = run.ledger_hash()
        notes = (*(note for one in closed for note in one.notes), *notes_of_run)
        say()
        say(summary(shared.history(), str(run.tape), ledger, (*notes, *import_findings(settings.replay))))
        voids = [*shared.voids, *(void for one in closed for void in one.voids)]
        if voids:
            raise FaultError(f"the run is inconclusive: {'; '.join(voids)}", code="run.void")
        diverged = True in [print_replay(run, one) for one in closed if one.replay is not None]
        incomplete = [one.incomplete for one in closed if one.incomplete]
        if incomplete:
            run.folder.note(incomplete=incomplete[0])
        run.folder.end("finished", ledger=ledger)
    upload.finish(run.folder.path, run.tape)
    sys.exit(130 if ended_by == signal.SIGINT else int(diverged))


def _announce(run: Run, format_: str) -> None:
    from faultwire.cli.env import ENDPOINT, exports, here
    from faultwire.cli.output import show, show_json

    endpoint = {
        "proxy_url": run.own_url,
        "bundle": str(run.trust.bundle),
        "ca_cert": str(run.trust.ca_cert),
        "truststore": str(run.trust.truststore),
        "base_url": f"{run.proxy_url}/{run.engine.token}",
        "session_url": run.user_url,
        "variables": {name: list(place) for name, place in run.plan.variables.items()},
        "base_urls": run.base_urls,
        "keyless": run.keyless,
    }
    run.folder.note(**{ENDPOINT: endpoint})
    if format_ == "json":
        show_json({"run": str(run.folder.path), **endpoint, "environment": here(endpoint)})
    else:
        show(exports(here(endpoint)), whole=True)
    sys.stdout.flush()


def _who_may_use_it(run: Run, traffic: Traffic) -> list[str]:
    """Where others can reach the proxy: how they use it, or that nothing keeps them from it."""
    if traffic.no_auth:
        return [
            f"WARNING: --no-auth: everybody who can connect to `{traffic.listen}` can send requests through "
            "this proxy and write onto its tape"
        ]
    if not run.engine.guarded:
        return []
    return [
        f"clients of `{traffic.listen}` need the proxy user and token in the URL above (Proxy-Authorization: "
        "Basic), others are answered 407; on another machine, put this one's name in place of "
        f"`{run.engine.host}`"
    ]


def _let_end(run: Run) -> None:
    """Wait for calls in flight; a second signal ends this process and the engine."""
    deadline = clock.monotonic() + DRAIN_S
    while _shared(run).live and clock.monotonic() < deadline:
        clock.pause(0.05)


def _shared(run: Run) -> SharedProxy:
    shared: SharedProxy = run.shared  # as its settings ask for
    return shared


class _Elsewhere:
    """Signals that the kernel gives to another thread of this process (of uploads, of the health page) while
    the main one is not waiting for them: the main thread's mask does not hold there, and by default they
    would end the process without a word. One that is ignored (`nohup`) stays so."""

    def __init__(self) -> None:
        self.got: list[int] = []
        ours = (signal.SIG_DFL, signal.default_int_handler)
        self._before = {one: found for one in _ENDING if (found := signal.getsignal(one)) in ours}
        for one in self._before:
            signal.signal(one, lambda number, _frame: self.got.append(number))

    def leave(self) -> None:
        """From now on they do what they did before."""
        for one, handler in self._before.items():
            signal.signal(one, handler)


def _wait_for_signal(lost: LostEngines, elsewhere: _Elsewhere) -> int:
    """Wait for a terminating signal, and say which engines were lost meanwhile. Raises FaultwireError if none
    is left."""
    from faultwire.cli.output import say

    while not elsewhere.got:
        got = _next_signal(_ENDING | {signal.SIGCHLD})
        if got is not None and got in _ENDING:
            return got
        if got is not None:
            for line in lost.look():
                say(line)
    return elsewhere.got[0]


def _next_signal(wanted: frozenset[signal.Signals]) -> int | None:
    """The next of these that comes to this thread; None after `LOOK_S` without one."""
    if sys.platform == "darwin":  # which has no sigtimedwait(2)
        return signal.sigwait(wanted)
    found = signal.sigtimedwait(wanted, LOOK_S)
    return None if found is None else found.si_signo
