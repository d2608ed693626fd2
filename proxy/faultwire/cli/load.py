"""`faultwire load -- CMD…`: how does the agent do when many of it run at once?"""

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


def as_levels(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """`1,2,4` as numbers, in order, with 1 among them. Called by click. Raises BadParameter."""
    try:
        found = sorted({1, *map(int, value.split(","))})
    except ValueError:
        found = [0]
    if found[0] < 1 or found[-1] > 256:
        raise click.BadParameter(f"found `{value}`, expected numbers from 1 to 256 such as `1,2,4,8`")
    return tuple(found)


@click.command("load", cls=SectionedCommand, short_help="Run many of an agent at once, with chaos on.")
@click.option(
    "--levels",
    default="1,2,4,8",
    show_default=True,
    callback=as_levels,
    metavar="N,N",
    help="Invocations at once; 1 is always among them.",
)
@click.option("--cells", type=click.IntRange(1, 1000), default=4, show_default=True, help="Different runs.")
@click.option(
    "--serial", type=click.IntRange(1, 100), default=3, show_default=True, help="Runs of each cell alone."
)
@click.option(
    "--per-level",
    type=click.IntRange(1, 10_000),
    default=16,
    show_default=True,
    help="Invocations of each level, twice the level at least.",
)
@click.option(
    "--prompt", "prompts", multiple=True, metavar="TEXT", help="For `{prompt}`; repeatable, in turn."
)
@click.option(
    "--target",
    type=click.FloatRange(0, 100),
    default=95.0,
    show_default=True,
    metavar="PERCENT",
    help="Invocations that must pass; the rest is the error budget of each level.",
)
@oracle_options
@click.option(
    "--pressure",
    "pressures",
    multiple=True,
    metavar="KIND=N",
    help="Also alone with less: memory=256M, cpu=0.5, pids=32, fds=64, disk=1M (a second); repeatable.",
)
@click.option(
    "--max-runs", type=click.IntRange(1), default=400, show_default=True, help="Invocations at most."
)
@click.option(
    "--max-time", callback=as_seconds, default="10m", show_default=True, metavar="TIME",
    help="Nothing is begun after that.",
)  # fmt: skip
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write the report (.html, .json); repeatable.",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def load(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Run many of an agent at once, with chaos on: throughput, latency, the knee, and races.

    Cells (a prompt with the faults of one seed) run alone first, and then more and more of them at once, with
    the same faults. A cell that passes alone and fails beside others is run alone again; where that is more
    than chance, it is a race. Nothing begins after --max-runs or --max-time.

    Exits 0, 1 if a race was found or an error budget is overspent, 3 if nothing could be judged.

    \b
    faultwire load --mock --fault 'latency: {ms: 200}' --levels 1,2,4,8 -- python agent.py
    faultwire load --prompt 'What is 17 * 23?' --expect 'contains: "391"' -- node agent.mjs '{prompt}'
    """
    from faultwire.cli import _loaded
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire load --mock --levels 1,2,4,8 -- python agent.py",
        )
    own = {name: options.pop(name) for name in _loaded.Asked.__dataclass_fields__ if name in options}
    settled: dict[str, Any] = {"record": None, "replay": None}
    traffic = Traffic(**settled, **options)
    with interruptible():
        sys.exit(_loaded.load(command, _loaded.Asked(**own), traffic, format_))
