"""Runs one phase and judges it, in one round or in rounds until --until decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from faultwire.contract.matrix import Matrix, judge
from faultwire.contract.overall import outcomes
from faultwire.runner.run import play

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.agents._api import Agent
    from faultwire.contract.cells import Invocation
    from faultwire.contract.statistics import Decision, Until
    from faultwire.runner.phases import Phase
    from faultwire.runner.run import Played, Stage

Group = tuple[str, str]
"""A scenario and a prompt: what is repeated."""


class Round(Protocol):
    """Plays invocations."""

    def __call__(self, plan: Sequence[Invocation], report: Callable[[Played], None]) -> None:
        """Plays each of them once, and reports it when it has ended."""


@dataclass(frozen=True, slots=True)
class Playing:
    """How a phase is played. `until` repeats each scenario with each prompt until its runs decide."""

    seed: int
    concurrency: int = 1
    retries: int = 0
    until: Until | None = None
    progress: Callable[[Played], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A phase that was played. `partial` where it was interrupted: what is here had finished.
    `decisions` say of each scenario with each prompt what its runs decided, with `until` only."""

    phase: Phase
    played: tuple[Played, ...]
    matrix: Matrix
    partial: bool = False
    decisions: tuple[tuple[Group, Decision], ...] = ()


def conduct(phase: Phase, agent: Agent, stage: Stage, playing: Playing) -> Outcome:
    """Play a phase and judge it; Ctrl-C makes it partial.

    Raises AgentError, CaptureError and UsageError as `play` does.
    """

    def round_of(plan: Sequence[Invocation], report: Callable[[Played], None]) -> None:
        def report_progress(played: Played) -> None:
            report(played)
            playing.progress(played)

        play(
            plan,
            agent,
            stage,
            seed=playing.seed,
            concurrency=playing.concurrency,
            retries=playing.retries,
            progress=report_progress,
            ask=lambda invocation: phase.ask(invocation, network=agent.network),
        )

    return conduct_rounds(phase, round_of, playing.until)


def conduct_rounds(phase: Phase, play_round: Round, until: Until | None = None) -> Outcome:
    """Play a phase round by round, however a round is played, and judge it; Ctrl-C makes it partial.

    Each round is looked at as a whole and only once it has ended: the looks come in one order, whatever
    ended first. Raises what `play_round` raises.
    """
    done: list[Played] = []

    def round_of(plan: Sequence[Invocation]) -> None:
        play_round(plan, done.append)

    try:
        round_of(phase.plan)
        decisions = _repeated(phase, done, round_of, until) if until is not None else ()
    except KeyboardInterrupt:
        return _outcome(phase, done, partial=True)
    return replace(_outcome(phase, done), decisions=decisions)


def merged(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Outcomes of the same phase, played in several parts, as one."""
    found: dict[str, Outcome] = {}
    for one in outcomes:
        had = found.get(one.phase.name)
        found[one.phase.name] = one if had is None else _joined(had, one)
    return tuple(found.values())


def _joined(first: Outcome, second: Outcome) -> Outcome:
    phase = replace(
        first.phase,
        scenarios=(*first.phase.scenarios, *second.phase.scenarios),
        prompts=(*first.phase.prompts, *second.phase.prompts),
        plan=(*first.phase.plan, *second.phase.plan),
        notes=(*first.phase.notes, *second.phase.notes),
    )
    return Outcome(
        phase,
        (*first.played, *second.played),
        Matrix((*first.matrix.cells, *second.matrix.cells)),
        first.partial or second.partial,
        (*first.decisions, *second.decisions),
    )


def _outcome(phase: Phase, done: Sequence[Played], *, partial: bool = False) -> Outcome:
    """What there is, in the order of the plan, whatever ended first."""
    order = {invocation.id: at for at, invocation in enumerate(phase.plan)}
    played = sorted(done, key=lambda one: (one.invocation.repeat, order.get(_first(one.invocation), 0)))
    matrix = judge(phase.invariants, [(one.invocation, one.history) for one in played])
    return Outcome(phase, tuple(played), matrix, partial)


def _first(invocation: Invocation) -> str:
    return replace(invocation, repeat=1).id


def _repeated(
    phase: Phase, done: list[Played], round_of: Callable[[Sequence[Invocation]], None], until: Until
) -> tuple[tuple[Group, Decision], ...]:
    """Repeat undecided groups until all are decided."""
    groups = dict.fromkeys(map(_group, phase.plan))
    each = until.shared(len(groups))
    repeat = max((invocation.repeat for invocation in phase.plan), default=0)
    while True:
        decided = {group: each.decide(*count) for group, count in _counts(phase, done, groups).items()}
        # Unknown outcomes are no evidence, so the bound on runs is one on what was played.
        undecided = [g for g in groups if decided[g] == "open" and repeat < each.most]
        if not undecided:
            return tuple(
                (g, "exhausted" if decision == "open" else decision) for g, decision in decided.items()
            )
        repeat += 1
        round_of([replace(i, repeat=repeat) for i in phase.plan if i.repeat == 1 and _group(i) in undecided])


def _counts(phase: Phase, done: Sequence[Played], groups: dict[Group, None]) -> dict[Group, tuple[int, int]]:
    """Passed and judged invocations of every group."""
    matrix = judge(phase.invariants, [(one.invocation, one.history) for one in done])
    verdicts = outcomes(matrix)
    counts = dict.fromkeys(groups, (0, 0))
    for one in done:
        verdict = verdicts.get(one.invocation.id, "unknown")
        if verdict != "unknown":
            passed, total = counts[_group(one.invocation)]
            counts[_group(one.invocation)] = (passed + (verdict == "pass"), total + 1)
    return counts


def _group(invocation: Invocation) -> Group:
    return invocation.scenario.name, invocation.prompt.id
