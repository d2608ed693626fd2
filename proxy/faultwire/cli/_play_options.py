"""The options of commands that run a configuration, and the changes they make to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._placed import anywhere_option
from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from faultwire.campaign.ci_run import Result
    from faultwire.cli._campaign_options import CampaignOptions
    from faultwire.cli._store_options import StoreOptions, Target
    from faultwire.cli._ui_options import UiOptions
    from faultwire.cli._upload import Upload
    from faultwire.cli.output import Format
    from faultwire.config.model import Config
    from faultwire.contract.statistics import Until
    from faultwire.runner.started_run import Run

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
    ui: UiOptions | None = None
    campaign: CampaignOptions | None = None
    store: StoreOptions | None = None
    engines: int | str = 1

    def engine_count(self, config: Config) -> int:
        """On how many engines the invocations are placed. Raises UsageError beside options that know one."""
        from faultwire.errors import UsageError
        from faultwire.runner.several_engines import engine_count, usable_cores

        ui, campaign = self.ui, self.campaign
        if config.proxy.encrypt_bodies and campaign is not None and campaign.on is not None:
            raise UsageError(
                "found --on and `proxy.encrypt_bodies`, expected one of them",
                code="usage.on",
                hint="the keys would stay with the workers",
            )
        if self.engines == 1:
            return 1
        watched = ui is not None and (ui.wanted or ui.otel is not None or ui.token is not None)
        for option, given in (("--ui", watched), ("--on", campaign is not None and campaign.on is not None)):
            if given:
                raise UsageError(
                    f"found --engines with {option}, expected one of them",
                    code="usage.engines",
                    hint="the page follows one tape"
                    if option == "--ui"
                    else "each worker has an engine of its own",
                )
        return engine_count(self.engines, config.advanced.concurrency, usable_cores())

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

    def performer(self) -> Callable[..., Result]:
        """What plays the run: this process, or the workers of an engine. Raises UsageError."""
        if self.campaign is not None:
            return self.campaign.performer(watched=self.ui is not None and self.ui.wanted)
        from faultwire.campaign.ci_run import perform

        return perform

    def opened_store(self) -> tuple[Target | None, Upload | None]:
        """What keeps the results and the tapes, too, if anything. Raises UsageError and FaultwireError."""
        return (self.store.open(), self.store.upload()) if self.store is not None else (None, None)

    def beside(self, upload: Upload | None) -> Callable[[Run], AbstractContextManager[Any]]:
        """What goes on beside each engine."""
        from faultwire.cli._upload import all_beside

        found = [one.beside for one in (self.ui, upload) if one is not None]
        return lambda run: all_beside(run, found)

    def sequential(self) -> Until | None:
        """The stopping rule of --until, if given. Raises UsageError."""
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
    """A number from 0 to 1. NaN is refused: no score would ever be below it."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Fails as click's other types do."""
        share = super().convert(value, param, ctx)
        if isnan(share):
            self.fail(f"{value} is not in the range 0<=x<=1.", param, ctx)
        return share


def play_options(command: F) -> F:
    """Add the options of every command that runs a configuration."""
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
    click.option("--seed", type=int, help="Random seed; overrides the file's."),
    click.option("--repeat", type=click.IntRange(1, 1000), help="Number of runs per prompt."),
    click.option(
        "--until",
        metavar="BAD:GOOD",
        help="Repeat until the runs decide between two pass rates, for example 0.5:0.9.",
    ),
    click.option("--most", type=click.IntRange(1, 10_000), help="Maximum number of runs with --until."),
    click.option(
        "--concurrency", type=click.IntRange(1, 100), help="Maximum number of parallel invocations."
    ),
    click.option(
        "--min-score",
        type=Share(),
        help="Pass if the scores reach this value, 0 to 1, instead of requiring every verdict to pass.",
    ),
    click.option("--allow-unknown", is_flag=True, help="Do not fail where a verdict is unknown."),
    click.option("--baseline", metavar="RUN", help="Compare with an earlier run: its id, `last`, or a path."),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        help="Also write the report to a folder or a file (.html, .json, .xml for JUnit, .md).",
    ),
    anywhere_option(),
    click.option("-q", "--quiet", is_flag=True, help="Print the score and errors only."),
)
