"""`faultwire contract`: does the agent keep its contract under faults?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._campaign_options import campaign_options
from faultwire.cli._group import Group
from faultwire.cli._play_options import DEFAULT, Play, play_options
from faultwire.cli._store_options import store_options
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part, Result
    from faultwire.config.model import Config


@click.group(
    "contract",
    cls=Group,
    sections={"Commands": ("run", "validate")},
    renamed={"score": "faultwire score --phase contract"},
    short_help="Test the agent against its contract in every scenario.",
)
def contract() -> None:
    """Test the agent against its contract: invariants × scenarios × prompts."""


@contract.command("run")
@play_options
@campaign_options
@store_options
def run(**options: Any) -> None:
    """Run every prompt in every scenario and judge each invariant.

    Exits 0 if every verdict is a pass, 1 if one fails or is unknown (see --allow-unknown), 3 if the run
    is inconclusive. With --min-score the resilience score decides, 0 to 1; a failed critical invariant
    fails the contract at any score.
    """
    from faultwire.cli._play import play

    play("contract", Play(**options), _parts, check_memory=True)


@contract.command("score")
@play_options
def score(**options: Any) -> None:
    """Run the contract and print only its resilience score, 0 to 100."""
    from faultwire.cli._play import play
    from faultwire.cli.output import show

    def shown(result: Result) -> None:
        value = result.scores.phases[0].score
        show("none" if value is None else f"{value * 100:.2f}")

    play("contract", Play(**{**options, "quiet": True}), _parts, shown=shown)


@contract.command("validate")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The configuration.",
)
def validate(config: Path) -> None:
    """Check the contract without starting anything, and print what would run.

    Exits 1 if a critical invariant fits no scenario, because the contract could then never pass.
    """
    from faultwire.cli.output import say, show
    from faultwire.config.load import load
    from faultwire.contract.matrix import fits
    from faultwire.runner.never_judged import foreseen
    from faultwire.runner.phases import contract as phase_of

    found = load(config)
    for warning in found.warnings:
        say(f"warning: {warning}")
    phase = phase_of(found)
    for note in phase.notes:
        say(f"note: {note}")
    cells = sum(
        fits(check, invocation.scenario)
        for invocation in phase.plan
        for check in (
            *(() if invocation.prompt.probe else phase.invariants),
            *invocation.prompt.invariants,
        )
    )
    show(
        f"{config}: {counted(len(phase.checks), 'invariant')}, {counted(len(phase.scenarios), 'scenario')}, "
        f"{counted(len(phase.prompts), 'prompt')}: {counted(len(phase.plan), 'invocation')}, "
        f"{counted(cells, 'cell')}"
    )
    never = foreseen([phase], "contract")
    for one in never:
        say(f"contract: {one.why}\n  hint: {one.hint}")
    sys.exit(1 if never else 0)


def _parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
    from faultwire.campaign.ci_run import Part
    from faultwire.runner.phases import contract as phase_of

    return (Part((phase_of(config),)),), {}
