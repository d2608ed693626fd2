"""`faultwire score`: one number, for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import Play, play_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


@click.command("score", short_help="Print one number: the score of a new run or of an earlier one.")
@play_options
@click.option(
    "--phase",
    type=click.Choice(["mutation", "chaos", "contract", "replay"]),
    help="The phase whose score is printed; without RUN, `mutation` is the default.",
)
@click.argument("run", required=False, metavar="[RUN]")
def score(run: str | None, phase: str | None, **options: Any) -> None:
    """Print the score of RUN (an id, `last`, or a folder); without RUN, run a phase and print its score.

    The number is 0 to 1 with four digits, or `none` where no verdict was reached.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import mutator, play
    from faultwire.cli.output import show
    from faultwire.cli.run import scenarios
    from faultwire.errors import UsageError
    from faultwire.runner import phases

    if run is not None:
        show(past_score(run, phase))
        return
    if phase == "replay":
        raise UsageError(
            "found `--phase replay` without a RUN, expected `mutation`, `chaos` or `contract`",
            code="usage.no_phase",
            hint="`faultwire replay run -q` prints that score",
        )

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        if phase == "contract":
            return (Part((phases.contract(config),)),), {}
        if phase == "chaos":
            return (Part((phases.chaos(config, scenarios(config, ())),)),), {}
        return (Part((phases.mutation(config, mutator(config)),)),), {}

    play(phase if phase in ("chaos", "contract") else "run", Play(**{**options, "quiet": True}), parts)


def past_score(name: str, phase: str | None = None) -> str:
    """The score of an earlier run, or of one of its phases. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.runner.past_runs import run_folder, runs

    folder = run_folder(name)
    found = next((run for run in runs(folder.parent.parent) if run.path.name == folder.name), None)
    if found is None or found.status != "finished":
        raise UsageError(
            f"found no score of `{folder.name}`: it {'is inconclusive' if found is None else found.status}",
            code="usage.no_score",
            hint="`faultwire runs` shows which runs finished",
        )
    if phase is None:
        return "none" if found.score is None else f"{found.score:.4f}"
    scores = dict(found.scores)
    if phase not in scores:
        raise UsageError(
            f"found no score of the phase `{phase}` in `{folder.name}`",
            code="usage.no_phase",
            hint=f"it has scores of {', '.join(scores)}" if scores else None,
        )
    return f"{scores[phase]:.4f}"
