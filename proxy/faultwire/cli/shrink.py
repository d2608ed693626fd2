"""`faultwire shrink RUN|TAPE -- CMD…`: the smallest set of faults with which a run still fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import judge_options, some_traffic_options
from faultwire.cli.options import Traffic


@click.command(
    "shrink",
    cls=SectionedCommand,
    short_help="Find the smallest set of faults with which a run still fails.",
)
@click.argument("source", required=False, metavar="RUN|TAPE")
@judge_options(200)
@click.option(
    "--noise",
    type=click.FloatRange(0.001, 0.4),
    default=0.01,
    show_default=True,
    help="How often runs fail without the cause.",
)
@click.option("--prompt", metavar="TEXT", help="What `{prompt}` in the command stands for; shortened, too.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The repro folder to write.  [default: below .faultwire/shrink]",
)
@click.option(
    "--rerun",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Run a repro folder: exits 1 if the agent fails, 0 if it does not.",
)
@some_traffic_options
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def shrink(
    source: str | None, command: tuple[str, ...], rerun: Path | None, quiet: bool, **options: Any
) -> None:
    """Find the smallest set of faults with which a run still fails.

    Runs the command again and again, offline, with some of the decisions that the ledger of RUN holds, until
    it is decided which of them are needed; then with simpler values and a shorter prompt. Answers come from
    the tape, or from the mock (--mock, --script). Give the run's own --profile and --fault again. Writes a
    folder that shows the failure with one command. The same command goes on after an interruption.

    Exits 0 if the smallest set was found, 2 if the run does not fail or fails without any fault, 3 if the
    budget was too small.

    \b
    faultwire shrink last --profile degraded_llm --mock -- python agent.py
    faultwire shrink last --fault 'status: {code: 503}' --expect 'contains: Paris' -- node agent.mjs
    """
    from faultwire.cli import _shrunk, _shrunk_repro, _shrunk_subject
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    own = {name: options.pop(name) for name in _shrunk_subject.Asked.__dataclass_fields__ if name in options}
    traffic = Traffic(record=None, seed=0, **options)
    asked = _shrunk_subject.Asked(**own, quiet=quiet)
    with interruptible():
        if rerun is not None:
            # `--rerun FOLDER -- CMD ARG`: the first word is the program's.
            sys.exit(_shrunk_repro.rerun(rerun, (source, *command) if source else command, asked, traffic))
        if source is None or not command:
            raise UsageError(
                "found no run and command, expected both",
                code="usage.missing",
                hint="faultwire shrink last --profile degraded_llm --mock -- python agent.py",
            )
        sys.exit(_shrunk.shrink(source, command, asked, traffic))
