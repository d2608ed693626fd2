"""`--on` and what belongs to it: have workers of an engine play the cells of a run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._trial_options import as_seconds
from faultwire.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.campaign.ci_run import Result

F = TypeVar("F", bound="Callable[..., Any]")
NEEDS_ON = ("max_runs", "max_time", "max_cost", "worker_python", "worker_folder", "lease")


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """The options below, as they were given."""

    on: str | None
    max_runs: int | None
    max_time: float | None
    max_cost: float | None
    worker_python: str | None
    worker_folder: str | None
    lease: float | None

    def performer(self, *, watched: bool) -> Callable[..., Result]:
        """What plays the run. Raises UsageError for options without `--on`, and for `--ui` with it."""
        from faultwire.errors import UsageError

        if self.on is None:
            given = [name for name in NEEDS_ON if getattr(self, name) is not None]
            if given:
                option = f"--{given[0].replace('_', '-')}"
                raise UsageError(f"found {option} without --on, expected both", code="usage.on")
            from faultwire.campaign.ci_run import perform

            return perform
        if watched:
            raise UsageError(
                "found --ui with --on, expected one of them",
                code="usage.on",
                hint="each worker has an engine of its own; `faultwire ui` shows the run when it is over",
            )
        from faultwire.campaign.budget import Limits
        from faultwire.campaign.distributed_run import On, perform_on

        limits = Limits(self.max_runs, self.max_time, self.max_cost)
        on = On(self.on, limits, self.worker_python, self.worker_folder, self.lease, say)
        return functools.partial(perform_on, on)


def campaign_options(command: F) -> F:
    """Add the options, and hand them over as one value, `campaign`."""

    @functools.wraps(command)
    def packed(**options: Any) -> Any:
        own = {name: options.pop(name) for name in ("on", *NEEDS_ON)}
        return command(campaign=CampaignOptions(**own), **options)

    found: Any = packed
    for option in reversed(_OPTIONS):
        found = option(found)
    return found  # type: ignore[no-any-return]


_OPTIONS = (
    click.option(
        "--on",
        metavar="ENGINE",
        help="Have workers play the invocations: local:N, dask://HOST:PORT (faultwire[dask]), or "
        "kube://NAMESPACE?image=IMAGE&objects=PLACE (faultwire[kube]).",
    ),
    click.option(
        "--max-runs", type=click.IntRange(1), help="With --on: invocations at most, over all starts."
    ),
    click.option(
        "--max-time", callback=as_seconds, metavar="TIME", help="With --on: time at most: 90s, 10m, 2h."
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="USD",
        help="With --on: what models may cost at most, over all starts.",
    ),
    click.option(
        "--worker-python",
        metavar="PATH",
        help="With --on: the interpreter that has faultwire on the workers.  [default: this one]",
    ),
    click.option(
        "--worker-folder",
        metavar="PATH",
        help="With --on: the project's folder on the workers.  [default: this one]",
    ),
    click.option(
        "--lease",
        callback=as_seconds,
        metavar="TIME",
        help="With --on: when a batch without an answer is given to another worker.  [default: by "
        "`agent.timeout`]",
    ),
)
