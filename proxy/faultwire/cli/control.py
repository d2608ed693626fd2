"""`faultwire control`: faults that are armed, listed and disarmed while a proxy runs."""

from __future__ import annotations

import signal
import sys
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._drained import drain
from faultwire.cli._group import Group
from faultwire.cli.control_break import COMMANDS
from faultwire.cli.options import FaultText
from faultwire.cli.output import format_option
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.cli._controlled import Watch

run_option = click.option("--run", "run", metavar="ID", help="The proxy's run; by default the newest.")


@click.group("control", cls=Group, short_help="Arm faults and hold exchanges on a running proxy.")
def control() -> None:
    """Arm, list and disarm faults on a running `faultwire proxy`, and hold exchanges at breakpoints.

    What is armed lives no longer than the command that armed it: if that is killed, traffic passes as it
    comes. Every change is on the tape.
    """


def _pairs(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if not value.partition("=")[0].strip() or "=" not in value:
            raise click.BadParameter(f"found `{value}`, expected `NAME=GLOB`")
    return {value.partition("=")[0].strip(): value.partition("=")[2] for value in values}


def _dollars(_context: click.Context, _option: click.Parameter, value: str | None) -> Decimal | None:
    try:
        found = None if value is None else Decimal(value)
    except InvalidOperation:
        found = Decimal(-1)
    if found is not None and not (found.is_finite() and found >= 0):
        raise click.BadParameter(f"found `{value}`, expected dollars such as `0.50`")
    return found


@control.command("arm", short_help="Arm faults, and hold them until the end of their window.")
@run_option
@click.option("--profile", multiple=True, metavar="NAME|PATH", help="Arm this profile; repeatable.")
@click.option("--fault", multiple=True, type=FaultText(), metavar="YAML", help="Arm one fault; repeatable.")
@click.option("--session", "sessions", multiple=True, metavar="GLOB", help="Only these sessions; repeatable.")
@click.option(
    "--session-by",
    metavar="HEADER",
    help="The request header that names a session; by default baggage (faultwire-session) or traceparent.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Only this share of sessions.",
)
@click.option(
    "--header", "headers", multiple=True, callback=_pairs, metavar="NAME=GLOB", help="Only calls with this."
)
@click.option(
    "--after", "after_s", type=click.FloatRange(0, 86400), default=0.0, help="Begin so many seconds later."
)
@click.option(
    "--for",
    "for_s",
    type=click.FloatRange(0, 86400, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Disarm after so many seconds.",
)
@click.option("--max-sessions", type=click.IntRange(1), help="Touch so many sessions at most.")
@click.option("--max-calls", type=click.IntRange(1), help="Fire on so many calls at most.")
@click.option(
    "--abort-error-rate",
    "error_rate",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Disarm if more calls of the proxy than this fail.",
)
@click.option(
    "--abort-latency",
    "latency_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Disarm if over 5 % of calls wait longer for their first byte.",
)
@click.option(
    "--abort-min-calls",
    "min_calls",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Judge both from this many calls on.",
)
@click.option(
    "--abort-window",
    "window_s",
    type=click.FloatRange(0, 3600, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Judge both over this time.",
)
@click.option(
    "--abort-cost", callback=_dollars, metavar="USD", help="Disarm if models cost more from now on."
)
@click.option("--abort-health", metavar="CMD", help="Disarm as soon as this command does not exit 0.")
@click.option(
    "--health-every",
    type=click.FloatRange(0.1),
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="How often the health command is run.",
)
@click.option(
    "--health-limit",
    type=click.FloatRange(0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="A health command that runs longer has failed.",
)
@format_option
def arm(
    run: str | None,
    profile: tuple[str, ...],
    fault: tuple[str, ...],
    max_sessions: int | None,
    max_calls: int | None,
    abort_cost: Decimal | None,
    abort_health: str | None,
    health_every: float,
    health_limit: float,
    format_: str,
    **chosen: Any,
) -> None:
    """Arm faults on a running proxy, and hold them until their window is over.

    Exit codes: 0 at the end of the window, 1 if an abort condition or somebody else disarmed them, 130 if
    this command was stopped, 3 if the proxy has ended.

    \b
    faultwire control arm --fault 'status: {code: 503}' --share 0.1 --max-sessions 5 --abort-error-rate 0.2
    """
    from faultwire.cli import _controlled as controlled
    from faultwire.cli.output import say, show_json
    from faultwire.profile.dump import dump
    from faultwire.profile.load import find, inline, load, merge

    armed = merge([*(load(find(name)) for name in profile), *map(inline, fault)])
    place = controlled.find(run)
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: stops.append(got))
    watches: list[Watch] = []
    if abort_health is not None:
        watches.append(controlled.Health(abort_health, health_every, health_limit))
    if abort_cost is not None:
        watches.append(controlled.Cost(place, abort_cost))
    with controlled.connected(place) as client:
        radius = {"sessions": max_sessions, "calls": max_calls}
        message = {**chosen, "profile": dump(armed), "radius": radius}
        ident = controlled.ask(client, op="arm", **message)["id"]
        say(f"armed {ident} on the run {place.folder.name}; Ctrl-C disarms")
        end = controlled.hold(client, ident, watches, lambda: bool(stops))
    if format_ == "json":
        show_json(end)
    say(_line(end))
    sys.exit(130 if stops else int(end["why"] != controlled.OVER))


@control.command("disarm", short_help="Disarm faults.")
@run_option
@click.argument("ids", nargs=-1, metavar="[ID]...")
def disarm(run: str | None, ids: tuple[str, ...]) -> None:
    """Disarm the faults of these ids (`control list`), or all of them."""
    from faultwire.cli import _controlled as controlled
    from faultwire.cli.output import say

    with controlled.connected(controlled.find(run)) as client:
        listed = controlled.ask(client, op="armed")["interventions"]
        wanted = ids or [one["id"] for one in listed if one["state"] == "armed"]
        for ident in wanted:
            say(_line(controlled.ask(client, op="disarm", id=ident)))
        if not wanted:
            say("nothing is armed")


@control.command("list", short_help="List what is armed, and what was.")
@run_option
@format_option
def list_(run: str | None, format_: str) -> None:
    """List what is armed on a running proxy, and what was."""
    from faultwire.cli import _controlled as controlled
    from faultwire.cli.output import show, show_json

    with controlled.connected(controlled.find(run)) as client:
        listed = controlled.ask(client, op="armed")["interventions"]
    if format_ == "json":
        show_json(listed)
    else:
        show("\n".join(map(_line, listed)) or "nothing is armed")


control.add_command(drain)
for command in COMMANDS:
    control.add_command(command)


def _line(one: Mapping[str, Any]) -> str:
    """One intervention in a line."""
    from faultwire.text import safe

    if "faults" not in one:
        return f"{one['id']} disarmed: {safe(one['why'])}"
    ids = ", ".join(name.partition("/")[2] for name in one["faults"])
    calls, sessions = counted(one["fired"], "call"), counted(one["seen"], "session")
    counts = f"fired on {calls}, touched {one['touched']} of {sessions}"
    state = f"armed, {one['left_s']:.0f} s left" if one["state"] == "armed" else f"disarmed: {one['why']}"
    return safe(f"{one['id']} ({ids}) {state}; {counts}")
