"""`faultwire blame RUN|TAPE -- CMD…`: which steps made a run fail, by experiment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import judge_options, some_traffic_options
from faultwire.cli.options import Traffic
from faultwire.cli.output import format_option


@click.command("blame", cls=SectionedCommand, short_help="Find the steps that made a run fail.")
@click.argument("source", metavar="RUN|TAPE")
@click.option(
    "--calm", metavar="RUN|TAPE", help="A run of the same agent that did not fail, to compare with."
)
@click.option("--live", is_flag=True, help="Let real servers answer what the tape cannot; this costs money.")
@click.option("--curve", is_flag=True, help="Also find when the failure became inevitable.")
@click.option(
    "--fields/--no-fields",
    default=True,
    help="Also find which field, stream event or line of a blamed answer it was.",
)
@judge_options(None)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where blame.html and blame.json go.  [default: below .faultwire/blame]",
)
@some_traffic_options
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def blame(source: str, command: tuple[str, ...], quiet: bool, **options: Any) -> None:
    """Find the steps that made a run fail.

    Runs the command again and again, with some parts as in RUN and the others as in a calm run: all parts but
    one (was it necessary?), and one alone (is it sufficient?). Parts are the decisions of faults that RUN's
    ledger holds; with --calm, the answers in which both runs differ. The answer of a part that is blamed is
    taken apart in the same way, into the fields or stream events in which it differs. Answers come from the
    tape, from the mock (--mock, --script) or from the servers (--live). Give the run's own --profile and
    --fault again. The same command goes on after an interruption.

    Exits 0 if a part is blamed, 1 if none is, 2 if the run does not fail or fails without any part, 3 if the
    budget was too small.

    \b
    faultwire blame last --profile degraded_llm --mock -- python agent.py
    faultwire blame friday --calm monday --expect 'contains: Paris' -- node agent.mjs
    """
    from faultwire.cli import _blamed, _blamed_subject
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    own = {name: options.pop(name) for name in _blamed_subject.Asked.__dataclass_fields__ if name in options}
    traffic = Traffic(record=None, seed=0, **options)
    asked = _blamed_subject.Asked(**own, quiet=quiet)
    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire blame last --profile degraded_llm --mock -- python agent.py",
        )
    with interruptible():
        sys.exit(_blamed.blame(source, command, asked, traffic))
