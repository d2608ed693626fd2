"""`faultwire score`: one number, for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import Play, play_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


@click.command("score", short_help="Print one number: the robustness score, or an earlier run's.")
@play_options
@click.argument("run", required=False, metavar="[RUN]")
def score(run: str | None, **options: Any) -> None:
    """Print the score of RUN (an id, `last`, or a folder); without one, play mutations and print theirs.

    The number is 0 to 1 with four digits, or `none` where no verdict was reached.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import mutator, play
    from faultwire.cli.output import show
    from faultwire.runner import phases as made

    if run is not None:
        show(explain(run))
        return

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        return (Part((made.mutation(config, mutator(config)),)),), {}

    play("run", Play(**{**options, "quiet": True}), parts)


def explain(name: str) -> str:
    """The number that an earlier run ended with. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.runner.past_runs import run_folder, runs

    folder = run_folder(name)
    found = next((run for run in runs(folder.parent.parent) if run.path.name == folder.name), None)
    if found is None or found.status != "finished":
        raise UsageError(
            f"found no score of `{folder.name}`: it {'is void' if found is None else found.status}",
            code="usage.no_score",
            hint="`faultwire runs list` shows which runs finished",
        )
    return "none" if found.score is None else f"{found.score:.4f}"
