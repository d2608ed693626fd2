"""`faultwire chaos`: the golden prompts, calm and under chaos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import Play, play_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


@click.command("chaos", short_help="Ask the golden prompts, calm and under chaos.")
@play_options
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME|PATH",
    help="The chaos, in place of the file's `chaos` section; repeatable.",
)
def chaos(profiles: tuple[str, ...], **options: Any) -> None:
    """Ask the golden prompts, calm and under chaos, and score the chaos resilience.

    The chaos is that of --profile, of the configuration's `chaos` section, or of api_outage; the score
    is the share of invocations under chaos that came through, 0 to 1. `run --chaos-only` is the same.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import play
    from faultwire.cli.run import scenarios
    from faultwire.runner import phases as made

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        return (Part((made.chaos(config, scenarios(config, profiles)),)),), {}

    play("chaos", Play(**options), parts)
