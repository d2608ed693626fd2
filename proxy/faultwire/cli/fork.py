"""`faultwire fork TAPE --at N … -- CMD…`: replay with one answer changed."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._freeze import freeze_option, freezing
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli.options import Traffic, traffic_options_but

if TYPE_CHECKING:
    from faultwire.replay.settings import Tail

TAKEN = frozenset(
    {
        "profile",
        "mock",
        "replay",
        "on_miss",
        "mark",
        "reuse",
        "record_policy",
        "on_tape_failure",
        "encrypt_bodies",
    }
)
"""Options of `exec` that make no sense here."""


@click.command(
    "fork",
    cls=SectionedCommand,
    short_help="Replay a tape up to one exchange, change its answer, and continue.",
)
@click.argument("tape")
@click.option(
    "--at",
    required=True,
    metavar="[SESSION#]N",
    help="The exchange to change, by its number in `tape show`.",
)
@click.option(
    "--response",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Respond with this file: a body, or an HTTP message with status line and headers.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Respond with an edited recorded answer: $.PATH, text, finish, calls[N].arguments, status.",
)
@click.option("--drop", is_flag=True, help="Close the connection without a response.")
@click.option(
    "--tail",
    type=click.Choice(["live", "mock", "tape"]),
    default=None,
    help="What answers later requests.  [default: live; mock with --mock or --script]",
)
@click.option("--mock", is_flag=True, help="Let the mock answer later requests, as --tail mock does.")
@traffic_options_but(TAKEN)
@freeze_option
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def fork(
    tape: str,
    at: str,
    response: Path | None,
    sets: tuple[str, ...],
    drop: bool,
    tail: Tail | None,
    mock: bool,
    freeze_time: str | None,
    command: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Replay a tape up to one exchange, change its answer, and continue.

    Exchanges before N are replayed as recorded. Exchange N gets another answer, a fault (--fault), or no
    answer; later exchanges go to the real servers, to the mock, or to the tape. The run is recorded as a
    branch that names its parent: `faultwire tape tree` shows branches, `faultwire tape diff` compares.

    \b
    faultwire fork monday --at 2 --set 'text="The flight is cancelled."' -- python agent.py
    faultwire fork monday --at 3 --fault 'status: {code: 503}' --tail tape -- node agent.mjs
    """
    from faultwire.capture import child
    from faultwire.capture.bypass_watch import BypassWatch
    from faultwire.cli._exec_notes import how_it_ended
    from faultwire.cli._forked import forked, not_forked
    from faultwire.cli._summary import summary
    from faultwire.cli.exec import learn
    from faultwire.cli.output import fields, say
    from faultwire.cli.replay_options import print_replay
    from faultwire.errors import UsageError
    from faultwire.runner.launch import start_run

    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire fork monday --at 2 --drop -- python agent.py",
        )
    traffic = Traffic(profile=(), mock=False, replay=tape, **options)
    if mock and tail not in (None, "mock"):
        raise UsageError(f"found `--mock` with `--tail {tail}`, expected one of them", code="fork.tail")
    tail = tail or ("mock" if mock or traffic.script is not None else "live")
    plan = forked(traffic, at, response=response, sets=sets, drop=drop, tail=tail)
    child.find(command, os.environ)
    settings = replace(plan.launch(program=command[0]), frozen=freezing(freeze_time, plan.replay, command))
    with start_run(settings) as run:
        environment = run.open_session(plan.name, plan.profile, traffic.seed)
        if settings.frozen is not None:
            environment = settings.frozen.environment(environment)
        if not quiet:
            rows = [("forked", f"{plan.tape} at {plan.session}#{plan.at}: {plan.how}, then {tail}")]
            say(fields([*rows, ("branch", str(run.tape))]))
            say()
        sys.stdout.flush()
        watch = BypassWatch().watch()
        received: set[int] = set()
        code = child.run(command, environment, watch, received=received)
        closed = run.close_session(plan.name, watch.found, watch.more)
        notes = (*closed.notes, *run.engine.notes())
        history, ledger = run.history(plan.name), run.ledger_hash()
        stops = frozenset(received & child.STOPS)
        notes += tuple(how_it_ended(history, code, stops))
        if not quiet:
            say()
            say(summary(history, str(run.tape), ledger, notes))
        learn(run, closed, history, command, code, notes, allow_no_traffic=False)
        diverged = print_replay(run, closed, quiet=quiet) or not_forked(plan, history, closed)
        if closed.incomplete:
            run.folder.note(incomplete=closed.incomplete)
        status = "interrupted" if stops else "finished"
        run.folder.end(status, exit_code=child.shell_code(code), ledger=ledger)
    sys.exit(child.shell_code(code) or int(diverged))
