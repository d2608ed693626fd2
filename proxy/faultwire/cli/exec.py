"""`faultwire exec -- CMD…`: run any command behind the proxy."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli import _inconclusive
from faultwire.cli._freeze import freeze_option, freezing
from faultwire.cli._namespaced import namespace_options, proof, wanted
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._packets import instructions_of, needs_of, packet_options, packets
from faultwire.cli._store_options import upload_options
from faultwire.cli._ui_options import UiOptions, ui_options
from faultwire.cli.options import Traffic, traffic_options
from faultwire.cli.replay_options import live_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.cli._determinism import Played
    from faultwire.cli._upload import Upload
    from faultwire.events import History
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.started_run import Run

SESSION = "exec"
"""The session's name; the dice depend on it, so it never changes."""
NO_KEY = "no provider's key is set, without which SDKs end before their first request; --mock needs none"
INTERRUPTED = (130, 143)
"""Exit codes of a command that the user ended (128 + SIGINT, SIGTERM): it is not run again."""


@click.command(
    "exec",
    cls=SectionedCommand,
    short_help="Run any command behind the proxy and break its traffic.",
    context_settings={"allow_interspersed_args": False},
)
@traffic_options
@live_options
@ui_options
@upload_options
@freeze_option
@namespace_options
@packet_options
@click.option("--allow-no-traffic", is_flag=True, help="Accept a run without traffic through the proxy.")
@click.option(
    "--dry-run",
    "dry_run",
    type=click.Path(path_type=Path),
    metavar="TAPE",
    help="Start nothing; print what the faults would do to this tape's traffic.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Run the command this often, each time with the same seed.",
)
@click.option(
    "--check-determinism",
    is_flag=True,
    help="Run the command twice (or --repeat N times); exit 1 if the runs differ, 0 if not.",
)
@click.option("--any-order", is_flag=True, help="With --check-determinism: accept calls in another order.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def exec_(
    command: tuple[str, ...],
    freeze_time: str | None,
    allow_no_traffic: bool,
    dry_run: Path | None,
    repeat: int,
    check_determinism: bool,
    any_order: bool,
    quiet: bool,
    capture_port: tuple[int, ...],
    relay: tuple[str, ...],
    wireguard_listen: tuple[str, int] | None,
    tun_device: str | None,
    ui: UiOptions,
    upload: Upload,
    **options: Any,
) -> None:
    """Run any command behind the proxy and break its traffic.

    The command inherits stdin, stdout, stderr and signals, and its exit code is passed on (128+n for
    signal n). An inconclusive run exits 3: no traffic came through the proxy, or faultwire itself
    failed. Every run is recorded below .faultwire/runs.

    \b
    faultwire exec --profile degraded_llm -- python agent.py
    faultwire exec --mock --fault 'status: {code: 503}' -- node agent.mjs
    """
    from faultwire.audit.program import program_hash
    from faultwire.capture import child
    from faultwire.cli._determinism import lines, verdict
    from faultwire.cli.output import say
    from faultwire.errors import UsageError

    if dry_run is not None:
        from faultwire.cli._rehearse import show_rehearsal

        show_rehearsal(dry_run, Traffic(**options))
        return
    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire exec --profile degraded_llm -- python agent.py",
        )
    traffic, runs = Traffic(**options), max(repeat, 2) if check_determinism else repeat
    if runs > 1 and traffic.record is not None:
        raise UsageError(
            f"found `--record` and {runs} runs, expected one run for one tape",
            hint="each run's tape is in its own folder below .faultwire/runs",
        )
    profile = traffic.load()
    child.find(command, os.environ)
    # The program only: arguments may hold a key, and no secret goes to disk.
    settings = traffic.launch(
        "exec", profile=profile, program=command[0], program_sha256=program_hash(command)
    )
    settings = replace(
        settings,
        frozen=freezing(freeze_time, settings.replay, command),
        namespace=wanted(traffic, profile, SESSION, command, capture_port, relay),
        packets=packets(traffic.capture, SESSION, wireguard_listen, tun_device, relay),
    )
    play = Play(traffic, profile, settings, command, ui, upload, quiet, allow_no_traffic)
    played: list[Played] = []
    for number in range(1, runs + 1):
        if runs > 1 and not quiet:
            say(f"run {number} of {runs}")
        played.append(play.once())
        if played[-1].code in INTERRUPTED:
            sys.exit(played[-1].code)
    if check_determinism:
        found = verdict(played, traffic.mask, any_order=any_order)
        if not quiet or found.difference is not None:
            for line in lines(found, runs, traffic.seed):
                say(line)
        sys.exit(0 if found.difference is None else 1)
    sys.exit(next((one.code for one in played if one.code), 0))


@dataclass(frozen=True, slots=True)
class Play:
    """A command and all that a run of it depends on."""

    traffic: Traffic
    profile: Profile
    settings: LaunchSettings
    command: tuple[str, ...]
    ui: UiOptions
    upload: Upload
    quiet: bool
    allow_no_traffic: bool

    def once(self) -> Played:
        """Run the command behind a proxy of its own. Raises where the run proves nothing (`learn`)."""
        from faultwire import clock, process_tree
        from faultwire.capture import child
        from faultwire.capture.bypass_watch import BypassWatch
        from faultwire.cli._determinism import Played
        from faultwire.cli._exec_notes import about_run, before_any, left_behind, shown_command
        from faultwire.cli._observed import Ended, write_report
        from faultwire.cli._summary import header, summary
        from faultwire.cli._upload import all_beside
        from faultwire.cli.output import say
        from faultwire.cli.replay_options import import_findings, print_replay
        from faultwire.errors import FaultwireError, TapeError
        from faultwire.replay.reader import redaction
        from faultwire.runner.launch import start_run

        traffic, profile, command = self.traffic, self.profile, self.command
        beside = (self.ui.beside, self.upload.beside)
        with _starting(quiet=self.quiet) as begun, start_run(self.settings) as run, all_beside(run, beside):
            begun.append(True)
            environment = run.open_session(SESSION, profile, traffic.seed)
            if self.settings.frozen is not None:
                environment = self.settings.frozen.environment(environment)
            if not self.quiet:
                say("\n".join((header(run, profile, traffic), *instructions_of(run), "")))
            sys.stdout.flush()
            # In a namespace without a way out there is nothing to look for.
            watch = BypassWatch().watch() if run.space is None else None
            moment, started = clock.utc_now(), clock.monotonic()
            received: set[int] = set()
            inside = run.space.entry() if run.space is not None else None
            code = child.run(
                command, environment, watch or nullcontext, lambda: run.engine.alive, received, inside
            )
            lasted_s = clock.monotonic() - started
            left = process_tree.end(run.mark, grace_s=process_tree.GRACE_S)
            if not run.engine.alive:
                run.engine.stats()  # says how it ended
            looked = (watch.found, watch.more) if watch is not None else ((), 0)
            closed = run.close_session(SESSION, *looked)
            notes = (
                *closed.notes,
                *run.engine.notes(),
                *import_findings(self.settings.replay),
                *proof(run, code),
                *(gone := left_behind(left)),
            )
            try:
                history = run.history(SESSION)
                ledger = run.ledger_hash()
            except TapeError:
                if closed.voids:  # they state why the tape cannot be read
                    raise _inconclusive.error(run, closed, command) from None
                raise
            notes += _inconclusive.unrecorded(run, closed, history)
            history = replace(history, voids=closed.voids)
            report, seen, stops = None, [], frozenset(received & child.STOPS)
            notes += before_any(history, code, stops, silent=not (closed.notes or closed.exchanges))
            if history.exchanges:
                began = moment.isoformat(timespec="seconds")
                ended = Ended(shown_command(command), code, began, lasted_s, stops)
                notes += about_run(history, profile, looked[0], environment, ended)
                report, made = write_report(
                    run,
                    profile,
                    traffic.seed,
                    history,
                    ended,
                    ledger=ledger,
                    notes=notes,
                    rules=redaction(self.settings.replay, traffic.redacts()),
                )
                seen = made["suggestions"]
            if not self.quiet:
                say()
                ids = [entry.id for entry in profile.entries]
                say(summary(history, str(run.tape), ledger, notes, report=report, noticed=seen, entries=ids))
            if stops and not history.exchanges and not closed.voids and not self.allow_no_traffic:
                run.folder.end("interrupted")
                return Played(run.tape, ledger, 128 + min(stops))
            why = [note for note in notes if note not in gone]  # which is no reason
            learn(run, closed, history, command, code, why, allow_no_traffic=self.allow_no_traffic)
            diverged = print_replay(run, closed, quiet=self.quiet)
            if closed.incomplete:
                run.folder.note(incomplete=closed.incomplete)
            status = "interrupted" if stops else "finished"
            run.folder.end(status, exit_code=child.shell_code(code), ledger=ledger)
        self.upload.finish(run.folder.path, run.tape)
        unwritten = FaultwireError.exit_code * bool(history.exchanges and report is None)
        return Played(run.tape, ledger, unwritten or child.shell_code(code) or int(diverged))


@contextmanager
def _starting(*, quiet: bool) -> Iterator[list[bool]]:
    """Say so where the user ends it before anything was `begun`, which is told by putting something there."""
    from faultwire.cli.output import say

    begun: list[bool] = []
    try:
        yield begun
    except KeyboardInterrupt:
        if not begun and not quiet:
            say("interrupted before the command was started; nothing was sent")
        raise


def learn(
    run: Run,
    closed: SessionSummary,
    history: History,
    command: Sequence[str],
    code: int,
    notes: Sequence[str],
    *,
    allow_no_traffic: bool,
) -> None:
    """Raise where the run proves nothing: FaultError where ours failed, CaptureError without traffic."""
    from faultwire.errors import CaptureError

    trust = _inconclusive.trust(closed, command)
    if closed.voids:
        raise _inconclusive.error(run, closed, command)
    if not history.exchanges and not allow_no_traffic:
        from faultwire.capture import child
        from faultwire.capture.runtime import uncaptured

        need = needs_of(run) or uncaptured(command, bases=bool(run.base_urls), inside=run.space is not None)
        failed = f" and exited {child.shell_code(code)}" if code else ""
        if trust is not None:
            raise CaptureError(
                f"`{command[0]}` reached the proxy and sent nothing that could be read{failed}, so the run "
                "is inconclusive (exit 3)" + "".join(f"; {note}" for note in notes),
                hint=f"{trust}; --allow-no-traffic accepts a run without traffic",
            )
        keyless = "" if run.keyless or _has_key() else f" ({NO_KEY})"
        look = f"see its output above{keyless}; otherwise " if code else ""
        raise CaptureError(
            f"`{command[0]}` sent no traffic through the proxy{failed}, so the run is inconclusive (exit 3)"
            + "".join(f"; {note}" for note in notes),
            hint=f"{look}{need}; "
            "`faultwire doctor -- CMD` shows details, and --allow-no-traffic accepts a run without traffic",
        )


def _has_key() -> bool:
    """Is the key of any provider set? SDKs without one end before their first request."""
    from faultwire import wire

    names = {name for protocol in wire.protocols().values() for group in protocol.keys for name in group}
    return any(os.environ.get(name) for name in names)
