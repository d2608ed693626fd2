"""`faultwire chaos`: the golden prompts, without faults and under chaos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import Play, play_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


@click.command("chaos", short_help="Test the golden prompts without faults and under chaos.")
@play_options
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME|PATH",
    help="Chaos profile that replaces the file's `chaos` section; repeatable.",
)
def chaos(profiles: tuple[str, ...], **options: Any) -> None:
    """Test the golden prompts without faults and under chaos, and score the chaos resilience.

    The faults are those of --profile, of the configuration's `chaos` section, or of api_outage. The
    score is the share of invocations under chaos that passed all checks, 0 to 1. Use `run --chaos-only`.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import play
    from faultwire.cli.run import scenarios
    from faultwire.runner import phases as made

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        return (Part((made.chaos(config, scenarios(config, profiles)),)),), {}

    play("chaos", Play(**options), parts)
