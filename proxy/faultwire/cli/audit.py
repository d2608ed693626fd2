"""`faultwire audit -- CMD…`: why do two runs of one seed differ?"""

from __future__ import annotations

import sys
from typing import Any

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import as_seconds
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

TAKEN = frozenset(
    {
        "record",
        "output_anywhere",
        "replay",
        "on_miss",
        "mark",
        "reuse",
        "strict_order",
        "unverified",
        "timing",
    }
)
"""Options of `exec` that make no sense here: each condition says where answers come from, and keeps its
tapes in the folder of the run."""


@click.command(
    "audit", cls=SectionedCommand, short_help="Find out by experiment why two runs of one seed differ."
)
@click.option("--against", metavar="RUN|TAPE", help="An earlier run that the runs of now are held against.")
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the finding only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def audit(
    command: tuple[str, ...],
    against: str | None,
    timeout: float,
    format_: Format,
    quiet: bool,
    **options: Any,
) -> None:
    """Find out by experiment why two runs of one seed differ.

    Runs the command until two runs differ, and then with one source of chance held fixed at a time: the
    clock (needs libfaketime), Python's hashes, the chance of Python and of Node, the order in which answers
    come, the answers themselves, the folder. The one under which runs agree is the cause; without one it is
    unknown. With --against: what has changed since that run?

    Exits 0 if the runs are the same, 1 if they differ, 3 if a run proves nothing.

    \b
    faultwire audit --mock -- python agent.py
    faultwire audit --against last --profile degraded_llm -- python agent.py
    """
    from faultwire.cli import _audited
    from faultwire.cli._ended import interruptible

    if not command:
        from faultwire.errors import UsageError

        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire audit --mock -- python agent.py",
        )
    traffic = Traffic(record=None, **options)
    with interruptible():
        sys.exit(_audited.audit(against, command, traffic, timeout, format_, quiet=quiet))
