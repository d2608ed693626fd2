"""`faultwire shrink RUN|TAPE -- CMD…`: the smallest set of faults with which a run still fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli.options import Traffic, traffic_options

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
TAKEN = frozenset(
    {
        "record",
        "replay",
        "on_miss",
        "seed",
        "mark",
        "reuse",
        "record_policy",
        "on_tape_failure",
        "mock_except",
    }
)
"""Options of `exec` that make no sense here: trials are offline, and have the seed of the run."""
_UNITS = {"s": 1, "m": 60, "h": 3600}


def _some_traffic_options(command: F) -> F:
    command = traffic_options(command)
    decorated: Any = command
    decorated.__click_params__ = [one for one in decorated.__click_params__ if one.name not in TAKEN]
    return command


def as_seconds(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """`90s`, `10m` or `2h` in seconds. Called by click. Raises BadParameter."""
    if value is None:
        return None
    try:
        found = float(value.rstrip("smh")) * _UNITS[value[-1:] if value[-1:] in _UNITS else "s"]
    except ValueError:
        found = -1.0
    if not 0 < found < 1e9:
        raise click.BadParameter(f"found `{value}`, expected a time such as `90s`, `10m` or `2h`")
    return found


@click.command(
    "shrink",
    cls=SectionedCommand,
    short_help="Find the smallest set of faults with which a run still fails.",
)
@click.argument("source", required=False, metavar="RUN|TAPE")
@click.option("--session", metavar="NAME", help="The session of the tape, where it has several.")
@click.option("--oracle", metavar="CMD", help="A run fails if this command exits with anything but 0.")
@click.option("--expect", metavar="YAML", help="A run fails if this check does, e.g. 'contains: Paris'.")
@click.option(
    "--contract",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A run fails if an invariant of this contract does.  [default: if the agent's exit code is not 0]",
)
@click.option(
    "--error",
    type=click.FloatRange(0.0001, 0.25),
    default=0.05,
    show_default=True,
    help="The error rate at which each candidate is decided.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0.001, 0.4),
    default=0.01,
    show_default=True,
    help="How often runs fail without the cause.",
)
@click.option("--max-runs", type=click.IntRange(1), default=200, show_default=True, help="Runs at most.")
@click.option(
    "--max-time", callback=as_seconds, metavar="TIME", help="Time of all runs at most: 90s, 10m, 2h."
)
@click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="What models may cost at most.")
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option("--prompt", metavar="TEXT", help="What `{prompt}` in the command stands for; shortened, too.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where outcomes are kept, to go on after an interruption.  [default: below .faultwire/shrink]",
)
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
@_some_traffic_options
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
