"""`faultwire explore -- CMD…`: which faults break an agent that is fine so far?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._campaign_options import worker_options
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import (
    MOST_COST,
    MOST_RUNS,
    MOST_TIME,
    MOST_TOKENS,
    as_seconds,
    oracle_options,
)
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

TAKEN = frozenset({"record", "mark", "record_policy", "on_tape_failure", "encrypt_bodies"})
"""Options of `exec` that make no sense here."""


@click.command(
    "explore",
    cls=SectionedCommand,
    short_help="Search for the faults that break an agent that is fine so far.",
)
@click.option(
    "--strategy",
    type=click.Choice(["lineage", "pairwise", "3-way", "random"]),
    default="lineage",
    show_default=True,
    help="What to run next: by what carried earlier runs, by a covering array, or by chance.",
)
@click.option(
    "--depth", type=click.IntRange(1, 2), default=2, show_default=True, help="Faults at once, at most."
)
@oracle_options
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Runs at once.")
@click.option(
    "--max-runs",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help=MOST_RUNS,
)
@click.option(
    "--max-time",
    callback=as_seconds,
    metavar="TIME",
    help=MOST_TIME,
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help=MOST_COST,
)
@click.option("--max-tokens", type=click.IntRange(1), help=MOST_TOKENS)
@click.option(
    "--on",
    metavar="ENGINE",
    help="Have workers make the runs: local:N, or dask://HOST:PORT (faultwire[dask]).",
)
@worker_options
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where outcomes are kept, to go on after an interruption.  [default: below .faultwire/explore]",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def explore(command: tuple[str, ...], format_: Format, quiet: bool, **options: Any) -> None:
    """Search for the faults that break an agent that is fine so far.

    Each fault of the --profile and --fault options is tried on each call of a run without faults, and then
    two at once. Failures are confirmed, made as small as possible, and grouped by the calls that fail. The
    result says which sets were run, and why each other one was left out. The same command goes on after an
    interruption.

    Exits 0 if no failure was found, 1 if one was, 2 if the agent fails without any fault, 3 if the budget
    ended first or runs could not be judged.

    \b
    faultwire explore --mock --fault 'status: {code: 503}' -- python agent.py
    faultwire explore --profile api_outage --script s.yaml --workers 4 -- node agent.mjs
    faultwire explore --mock --profile api_outage --on local:4 -- python agent.py
    """
    from faultwire.cli import _explored
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    own = {name: options.pop(name) for name in _explored.Asked.__dataclass_fields__ if name in options}
    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire explore --mock --fault 'status: {code: 503}' -- python agent.py",
        )
    with interruptible():
        asked = _explored.Asked(**own, quiet=quiet)
        sys.exit(_explored.explore(command, asked, Traffic(record=None, **options), format_))
