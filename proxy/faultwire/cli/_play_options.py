"""The options of commands that play a configuration, and what they change in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.cli.output import Format
    from faultwire.config.model import Config
    from faultwire.contract.statistics import Until

F = TypeVar("F", bound="Callable[..., Any]")
DEFAULT = Path("faultwire.yaml")


@dataclass(frozen=True, slots=True)
class Play:
    """The options below, as they were given."""

    config: Path
    seed: int | None
    repeat: int | None
    until: str | None
    most: int | None
    concurrency: int | None
    min_score: float | None
    allow_unknown: bool
    baseline: str | None
    output: Path | None
    quiet: bool
    format_: Format

    def load(self) -> Config:
        """The configuration with what the options change. Raises ConfigError and UsageError."""
        from faultwire.config.load import load

        config = load(self.config)
        changes = {
            name: value
            for name, value in (
                ("seed", self.seed),
                ("repeat", self.repeat),
                ("concurrency", self.concurrency),
            )
            if value is not None
        }
        return replace(config, advanced=config.advanced.model_copy(update=changes)) if changes else config

    def sequential(self) -> Until | None:
        """When to stop repeating, where that is asked for. Raises UsageError."""
        from faultwire.contract.statistics import MOST_RUNS, Until
        from faultwire.errors import UsageError

        if self.until is None:
            if self.most is not None:
                raise UsageError("found --most without --until, expected both", code="usage.until")
            return None
        bad, mark, good = self.until.partition(":")
        try:
            rates = (float(bad), float(good) if mark else 0.0)
        except ValueError:
            rates = (0.0, 0.0)
        if not mark or rates == (0.0, 0.0):
            raise UsageError(
                f"found `{self.until}` for --until, expected two pass rates such as `0.5:0.9`",
                code="usage.until",
            )
        return Until(rates[0], rates[1], most=self.most or MOST_RUNS)


class Share(click.FloatRange):
    """A number from 0 to 1. NaN is none: it is neither over nor under anything, so that no score would
    ever miss it."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Fails as click's other types do."""
        share = super().convert(value, param, ctx)
        if isnan(share):
            self.fail(f"{value} is not in the range 0<=x<=1.", param, ctx)
        return share


def play_options(command: F) -> F:
    """What every command takes that plays a configuration."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return format_option(command)


_OPTIONS = (
    click.option(
        "-c",
        "--config",
        type=click.Path(path_type=Path),
        default=DEFAULT,
        show_default=True,
        help="The configuration.",
    ),
    click.option("--seed", type=int, help="Decides every fault and mutation, in place of the file's."),
    click.option("--repeat", type=click.IntRange(1, 1000), help="How often each prompt is asked."),
    click.option(
        "--until",
        metavar="BAD:GOOD",
        help="Repeat until the runs decide between two pass rates, for example 0.5:0.9.",
    ),
    click.option("--most", type=click.IntRange(1, 10_000), help="Repeats after which --until gives up."),
    click.option("--concurrency", type=click.IntRange(1, 100), help="Invocations at once."),
    click.option(
        "--min-score",
        type=Share(),
        help="Let the scores decide, 0 to 1, and not every single verdict.",
    ),
    click.option("--allow-unknown", is_flag=True, help="Do not fail where a verdict is unknown."),
    click.option("--baseline", metavar="RUN", help="Compare with an earlier run: its id, `last`, or a path."),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        help="Also write the report here: a folder, or a name in .html, .json, .xml (JUnit) or .md.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print the score and errors only."),
)
