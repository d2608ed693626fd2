"""`faultwire run`: golden prompts and their mutants, calm or under chaos, and the robustness score."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import Play, play_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config
    from faultwire.contract.matrix import Scenario


@click.command("run", short_help="Ask golden prompts and their mutants: the robustness score.")
@play_options
@click.option("--chaos", is_flag=True, help="Ask the mutants under chaos.")
@click.option("--chaos-only", is_flag=True, help="Ask only the golden prompts, calm and under chaos.")
@click.option(
    "--chaos-profile",
    "profiles",
    multiple=True,
    metavar="NAME|PATH",
    help="The chaos, in place of the file's section; repeatable, implies --chaos.",
)
@click.option("--ci", is_flag=True, help="For pipelines: no progress line.")
@click.option("--verify-only", is_flag=True, help="Check the set-up and ask nothing else.")
def run(
    chaos: bool, chaos_only: bool, profiles: tuple[str, ...], ci: bool, verify_only: bool, **options: Any
) -> None:
    """Ask golden prompts and their mutants, judge every answer, and score the robustness.

    Each golden prompt is asked as it stands, then its mutants are; with --chaos those meet the faults
    of the configuration's `chaos` section, of --chaos-profile, or of api_outage. The robustness score
    is the weighted share of mutants that came through, 0 to 1.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import mutator, play
    from faultwire.runner import phases as made

    asked = Play(**options)
    if verify_only:
        from faultwire.cli.verify import verified

        sys.exit(verified(asked.config))

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        if chaos_only:
            return (Part((made.chaos(config, scenarios(config, profiles)),)),), {}
        under = scenarios(config, profiles) if chaos or profiles else ()
        return (Part((made.mutation(config, mutator(config), chaos=under),)),), {}

    play("run", asked, parts, live=not ci)


def scenarios(config: Config, profiles: Sequence[str]) -> tuple[Scenario, ...]:
    """What chaos means: the named profiles, else the configuration's section, else `api_outage`."""
    from faultwire.errors import UsageError
    from faultwire.profile.load import find, load
    from faultwire.runner.phases import chaos_scenarios

    named = [load(find(name)) for name in profiles]
    idle = next((profile.name for profile in named if not profile.entries), None)
    if idle is not None:
        raise UsageError(f"found the profile `{idle}`, which breaks nothing, expected one with faults")
    return chaos_scenarios(config, named) or chaos_scenarios(config, [load(find("api_outage"))])
