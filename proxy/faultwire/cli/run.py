"""`faultwire run`: golden prompts and their mutants, with or without faults, and the robustness score."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._campaign_options import campaign_options
from faultwire.cli._engine_options import engines_option
from faultwire.cli._option_sections import RenamedOption
from faultwire.cli._play_options import Play, play_options
from faultwire.cli._store_options import store_options
from faultwire.cli._ui_options import ui_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config
    from faultwire.contract.cells import Scenario


@click.command("run", short_help="Test golden prompts and their mutations: the robustness score.")
@play_options
@campaign_options
@engines_option
@store_options
@ui_options
@click.option("--chaos", is_flag=True, help="Run the mutants under chaos.")
@click.option(
    "--chaos-only", is_flag=True, help="Run only the golden prompts, without faults and under chaos."
)
@click.option(
    "--chaos-profile",
    "profiles",
    multiple=True,
    metavar="NAME|PATH",
    help="Chaos profile that replaces the file's `chaos` section; repeatable, implies --chaos.",
)
@click.option("--ci", is_flag=True, help="Print no progress line.")
@click.option(
    "--verify-only", is_flag=True, cls=RenamedOption, use="faultwire verify", help="Only check the set-up."
)
def run(
    chaos: bool, chaos_only: bool, profiles: tuple[str, ...], ci: bool, verify_only: bool, **options: Any
) -> None:
    """Test golden prompts and their mutations, judge every answer, and score the robustness.

    Each golden prompt runs unchanged, then its mutants run. With --chaos the mutants run under the
    faults of the configuration's `chaos` section, of --chaos-profile, or of api_outage. The robustness
    score is the weighted share of mutants that passed all checks, 0 to 1.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import mutator, play
    from faultwire.runner import phases as made

    settings = Play(**options)
    if verify_only:
        from faultwire.cli.verify import verified

        sys.exit(verified(settings.config))

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        if chaos_only:
            return (Part((made.chaos(config, scenarios(config, profiles)),)),), {}
        under = scenarios(config, profiles) if chaos or profiles else ()
        return (Part((made.mutation(config, mutator(config), chaos=under),)),), {}

    play("run", settings, parts, live=not ci)


def scenarios(config: Config, profiles: Sequence[str]) -> tuple[Scenario, ...]:
    """The chaos scenarios: the named profiles, else the configuration's section, else `api_outage`."""
    from faultwire.errors import UsageError
    from faultwire.profile.load import find, load
    from faultwire.runner.phases import chaos_scenarios

    named = [load(find(name)) for name in profiles]
    idle = next((profile.name for profile in named if not profile.entries), None)
    if idle is not None:
        raise UsageError(f"found the profile `{idle}` without faults, expected one with faults")
    return chaos_scenarios(config, named) or chaos_scenarios(config, [load(find("api_outage"))])
