"""`faultwire evolve --prompt TEXT -- CMD…`: which mutants of a prompt does the agent fail?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import as_seconds, oracle_options
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

TAKEN = frozenset(
    {"record", "replay", "on_miss", "mark", "reuse", "strict_order", "unverified", "timing", "mask"}
)
"""Options of `exec` that make no sense here: the tape is the run's, and answers are not from one."""


@click.command(
    "evolve", cls=SectionedCommand, short_help="Search for mutants of a prompt that an agent fails."
)
@click.option("--prompt", "prompts", multiple=True, metavar="TEXT", help="To mutate; repeatable.")
@click.option(
    "--budget", type=click.IntRange(1), default=200, show_default=True, help="Runs of the agent at most."
)
@click.option(
    "--finds", type=click.IntRange(1), default=10, show_default=True, help="End after so many failures."
)
@click.option(
    "--confirm",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    help="Repeats of each failure, all of which must fail; each prompt passes as many first.",
)
@click.option("--type", "types", multiple=True, metavar="NAME", help="Only this mutation; repeatable.")
@oracle_options
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the failures: .jsonl for training, .yaml as golden prompts, .json with all; repeatable.",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def evolve(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Search for mutants of a prompt that an agent fails, and keep the lineage of each.

    Each run asks CMD one mutant, in place of `{prompt}` or on stdin. Mutants that show a new behaviour on the
    wire are mutated on; types of mutation that led somewhere are chosen more often. A failure counts if it
    fails each time that it is asked again, and only of a prompt that passes as it is. The same seed and the
    same outcomes give the same search.

    Exits 0 if no failure was confirmed, 1 if one was, 3 if the run is inconclusive.

    \b
    faultwire evolve --prompt 'What is 17 * 23?' --expect 'contains: "391"' -- python agent.py '{prompt}'
    faultwire evolve --prompt 'Cancel order 7' -o failures.jsonl -o prompts.yaml -- node agent.mjs
    """
    from faultwire.cli import _evolved
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    if not command or not options["prompts"]:
        what = "command, expected one after `--`" if not command else "`--prompt`, expected one to mutate"
        raise UsageError(
            f"found no {what}",
            code="usage.missing",
            hint="faultwire evolve --prompt 'What is 17 * 23?' -- python agent.py '{prompt}'",
        )
    own = {name: options.pop(name) for name in _evolved.Asked.__dataclass_fields__ if name in options}
    settled: dict[str, Any] = {"record": None, "replay": None}
    traffic = Traffic(**settled, **options)
    with interruptible():
        sys.exit(_evolved.evolve(command, _evolved.Asked(**own), traffic, format_))
