"""`faultwire validate -- CMD…`: does `blame` find, on this agent, what was planted?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import TAKEN, as_seconds
from faultwire.cli.options import DEFAULT_SEED, Traffic, traffic_options_but
from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def _bar(name: str, default: float, help_: str) -> Callable[[F], F]:
    return click.option(name, type=click.FloatRange(0, 1), default=default, show_default=True, help=help_)


@click.command(
    "validate",
    cls=SectionedCommand,
    short_help="Plant known causes on an agent, and see if blame finds them.",
)
@click.option(
    "--cases", type=click.IntRange(1, 1000), default=1, show_default=True, help="Plants of each kind."
)
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Random seed of the plants.")
@click.option("--max-runs", type=click.IntRange(1), default=2000, show_default=True, help="Runs at most.")
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option("--live", is_flag=True, help="Let real servers answer; this costs money.")
@click.option("--shrink/--no-shrink", default=True, help="Also search with `shrink`.")
@click.option("--check", is_flag=True, help="Exit 1 where a bar below is missed.")
@_bar("--min-first", 0.95, "Share of single and late causes that come first.")
@_bar("--min-pair", 0.90, "Share of pairs of which both are found.")
@_bar("--min-coverage", 0.90, "Share of intervals that cover the truth.")
@_bar("--max-false", 0.05, "Share of plants in which something else is blamed.")
@traffic_options_but(TAKEN | {"output_anywhere"})
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def validate(
    command: tuple[str, ...],
    quiet: bool,
    min_first: float,
    min_pair: float,
    min_coverage: float,
    max_false: float,
    **options: Any,
) -> None:
    """Plant known causes on an agent, and see if blame finds them.

    Runs the agent once to see which decisions of a fault fire (--fault; by default a delay of 1 ms on every
    call, which changes nothing). Then it plants causes among them: one decision, a pair, one with a late
    symptom, and none at all. A planted oracle says which runs fail, so that the truth is known. blame and
    shrink search for it through the real proxy.

    \b
    faultwire validate --mock --check -- python agent.py
    """
    from faultwire.blame.planted import Bars
    from faultwire.cli import _validated
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire validate --mock -- python agent.py",
        )
    own = {name: options.pop(name) for name in _validated.Asked.__dataclass_fields__ if name in options}
    traffic = Traffic(record=None, seed=own["seed"], **options)
    asked = _validated.Asked(**own, quiet=quiet)
    with interruptible():
        bars = Bars(min_first, min_pair, min_coverage, max_false)
        sys.exit(_validated.validate(command, asked, bars, traffic))
