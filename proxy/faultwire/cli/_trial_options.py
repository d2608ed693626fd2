"""Options that the commands share which run an agent again and again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli.options import traffic_options_but

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
        "encrypt_bodies",
        "mock_except",
    }
)
"""Options of `exec` that make no sense here: trials are offline, and have the seed of the run."""
MOST_RUNS = "Runs at most, over all starts."
MOST_TIME = "Time of the runs of one start at most: 90s, 10m, 2h."
MOST_COST = "What models may cost at most, over all starts."
MOST_TOKENS = "Tokens of models at most, in and out, over all starts."
_UNITS = {"s": 1, "m": 60, "h": 3600}


some_traffic_options = traffic_options_but(TAKEN)
"""Those of `exec`, but for `TAKEN`."""


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


def oracle_options(command: F) -> F:
    """What a failure is: three ways to say so."""
    options = (
        click.option(
            "--oracle", metavar="CMD", help="A run fails if this command exits with anything but 0."
        ),
        click.option(
            "--expect", metavar="YAML", help="A run fails if this check does, e.g. 'contains: Paris'."
        ),
        click.option(
            "--contract",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A run fails if an invariant of this contract does.  "
            "[default: if the agent's exit code is not 0]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def judge_options(max_runs: int | None) -> Callable[[F], F]:
    """What a failure is, and what the runs may take: so many at most by default, None: what is usual."""
    usual = MOST_RUNS if max_runs else f"{MOST_RUNS}  [default: twice what is usual]"
    options: list[Callable[..., Any]] = [
        click.option("--session", metavar="NAME", help="The session of the tape, where it has several."),
        oracle_options,
        click.option(
            "--error",
            type=click.FloatRange(0.0001, 0.25),
            default=0.05,
            show_default=True,
            help="The error rate at which each candidate is decided.",
        ),
        click.option(
            "--max-runs",
            type=click.IntRange(1),
            default=max_runs,
            show_default=max_runs is not None,
            help=usual,
        ),
        click.option(
            "--max-time",
            callback=as_seconds,
            metavar="TIME",
            help=MOST_TIME,
        ),
        click.option(
            "--max-cost",
            type=click.FloatRange(0),
            metavar="USD",
            help=MOST_COST,
        ),
        click.option(
            "--timeout",
            callback=as_seconds,
            default="60s",
            show_default=True,
            metavar="TIME",
            help="For one run.",
        ),
        click.option(
            "--state",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Where outcomes are kept, to go on after an interruption.  [default: below .faultwire]",
        ),
    ]

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
