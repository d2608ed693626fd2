"""`faultwire ci`: every configured phase once, and one score for the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._campaign_options import campaign_options
from faultwire.cli._engine_options import engines_option
from faultwire.cli._play_options import Play, play_options
from faultwire.cli._store_options import store_options
from faultwire.cli._ui_options import ui_options
from faultwire.cli.output import say
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.campaign.ci_run import Part, Result, Wanted
    from faultwire.config.model import Config

SET_BY = {
    "mutation": "`mutations`",
    "chaos": "`chaos`",
    "contract": "`contract`",
    "replay": "`replays`",
}
"""The section of a configuration for which a phase is played."""
NOT_SET = {
    "mutation": "there are no `mutations` and no `invariants` of the file's own",
    "chaos": "there is no `chaos` section that has faults",
    "contract": "there is no `contract` section",
    "replay": "there are no `replays`",
}
"""Why a phase is not played."""


@click.command("ci", short_help="Run every configured phase once: one score for the gate.")
@play_options
@campaign_options
@engines_option
@store_options
@click.option(
    "--explain",
    type=click.IntRange(1),
    metavar="N",
    help="Also find which faults made new failures, with at most N runs of the agent in all.",
)
@ui_options
def ci(explain: int | None, **options: Any) -> None:
    """Run every phase of the configuration once: mutations, chaos, contract, replays.

    A phase is played if the file has its section: `mutations` (or `invariants` of the file's own), `chaos`,
    `contract`, `replays`.

    The overall score is the weighted mean of the phases that ran (`scoring`), 0 to 1. With --min-score
    the overall score and the score of each phase must reach the minimum, and no critical invariant may
    fail. Without it every verdict must be a pass.

    With --explain, failures that --baseline did not have (without it: all) are run again with some of
    their faults, as `faultwire blame` does. It changes no verdict and no exit code.
    """
    from faultwire.cli._play import play

    def parts(config: Config) -> tuple[tuple[Part, ...], dict[str, str]]:
        from faultwire.errors import ConfigError

        found = tuple(made(config))
        names = {phase.name for part in found for phase in part.phases}
        if not found:
            raise ConfigError(
                f"found no phase to run in `{config.path}`: {'; '.join(NOT_SET.values())}",
                code="config.empty",
            )
        if not options["quiet"]:
            say(f"plays {_listed(config, found)}")
        return found, {name: why for name, why in NOT_SET.items() if name not in names}

    def after(result: Result, config: Config, parts: Sequence[Part], wanted: Wanted, /) -> Result:
        from faultwire.cli import _explained

        if explain is None:
            return result
        return _explained.explain(result, config, parts, wanted, explain, quiet=options["quiet"])

    play("ci", Play(**options), parts, check_memory=True, after=after)


def _listed(config: Config, parts: tuple[Part, ...]) -> str:
    """The phases that are played, why, and with how many invocations each."""
    counts: dict[str, int] = {}
    for part in parts:
        for phase in part.phases:
            counts[phase.name] = counts.get(phase.name, 0) + len(phase.plan)
    sections = SET_BY if config.mutates else SET_BY | {"mutation": "`invariants`"}
    return ", ".join(
        f"{name} (by {sections[name]}: {counted(count, 'invocation')})" for name, count in counts.items()
    )


def made(config: Config) -> Iterator[Part]:
    """What is played: all phases on one engine, and sessions whose model calls a tape answers on others."""
    from faultwire.campaign.ci_run import Part
    from faultwire.cli._play import mutator
    from faultwire.runner import incidents, phases

    first = []
    if phases.judged_by(config):
        if config.mutates or config.invariants:
            first.append(phases.mutation(config, mutator(config)))
        under = phases.chaos_scenarios(config, ())
        if under:
            first.append(phases.chaos(config, under))
    if config.contract is not None:
        first.append(phases.contract(config))
    tapes = []
    for tape, sessions in incidents.by_tape(incidents.sessions_of(config)):
        phase = incidents.phase(config, sessions)
        if tape is None:
            first.append(phase)
        else:
            tapes.append(Part((phase,), incidents.replay_settings(tape)))
    if first:
        yield Part(tuple(first))
    yield from tapes
