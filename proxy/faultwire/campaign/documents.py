"""The reports of a run as data: one document for each phase, and one over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.campaign.upstream_request import forwarded
from faultwire.contract.overall import PHASES
from faultwire.report.document import Ruling, Subject, document
from faultwire.report.passed import passed_warnings
from faultwire.runner.past_runs import Trend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.config.model import Config
    from faultwire.runner.gate import Gate
    from faultwire.runner.play_phase import Outcome
    from faultwire.runner.scored import Summary


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """What is known of a run beside its phases; durations in seconds. `baseline` are the documents of an
    earlier run by phase, `trend` what is known of the runs before this one."""

    id: str
    command: str
    agent: str
    config: Config
    started_at: str
    duration_s: float
    ledger: str
    tapes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    baseline: Mapping[str, dict[str, Any]] | None = None
    trend: Trend = field(default_factory=Trend)


def _subject(
    summary: PhaseSummary,
    redact: Callable[[str], str],
    phase: str = "",
    planned: int | None = None,
    notes: tuple[str, ...] = (),
) -> Subject:
    return Subject(
        id=summary.id,
        command=summary.command,
        agent=redact(summary.agent),
        seed=summary.config.seed,
        concurrency=summary.config.advanced.concurrency,
        started_at=summary.started_at,
        duration_s=round(summary.duration_s, 3),
        ledger=summary.ledger,
        tapes=summary.tapes,
        notes=summary.notes,
        phase=phase,
        config=summary.config.digest,
        planned=planned,
        warnings=tuple(redact(warning) for warning in (*summary.warnings, *notes)),
    )


def passed_notes(outcome: Outcome) -> tuple[str, ...]:
    """What stands out in the traffic of invocations in which no check failed."""
    played = [(one.invocation, one.history) for one in outcome.played]
    asked = frozenset(check.name for check in outcome.phase.checks)
    return tuple(passed_warnings(played, outcome.matrix, asked))


def phase_document(
    outcome: Outcome,
    summary: PhaseSummary,
    redact: Callable[[str], str],
    gate: Gate,
    noticed: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of one phase, with the verdict of the run's gate on it, and what was `noticed` besides."""
    phase = outcome.phase
    one = gate.phases[phase.name]
    planned = len(outcome.played) + 1 if outcome.partial else len(outcome.played)
    mutating = phase.name == "mutation"
    notes = () if mutating else phase.notes
    return document(
        _subject(summary, redact, phase.name, max(planned, len(phase.plan)), (*notes, *noticed)),
        phase.scenarios,
        phase.prompts,
        phase.checks,
        outcome.matrix,
        [(one.invocation, one.history) for one in outcome.played],
        redact=redact,
        repeat=summary.config.advanced.repeat,
        before=(summary.baseline or {}).get(phase.name),
        trend=summary.trend.runs,
        left_out=summary.trend.left_out,
        notes_on_mutations=phase.notes if mutating else (),
        decisions=outcome.decisions,
        ruling=Ruling(one.word, one.reasons, gate.rule, dict(summary.config.scoring.scenarios)),
        forwarded=forwarded([Path(tape) for tape in summary.tapes], [one.history for one in outcome.played]),
    )


def summary_document(
    scores: Summary,
    phase_summary: PhaseSummary,
    redact: Callable[[str], str],
    missing: Mapping[str, str],
    minimum: float | None,
    gate: Gate,
    noticed: Sequence[str] = (),
) -> dict[str, Any]:
    """All phases at a glance, with why others did not run, and what was `noticed` in passed invocations."""
    from faultwire.report import summary

    weights = phase_summary.config.scoring.weights
    played = {phase.name: phase for phase in scores.phases}
    phases = []
    for name in PHASES:
        if name in played:
            one = played[name]
            word, judged = gate.phases[name].word, (one.judged, one.asked, one.unit)
            phases.append(
                summary.Phase(
                    name,
                    one.score,
                    weights[name],
                    word,
                    one.cells,
                    f"{name}.html",
                    judged=judged,
                    invocations=one.invocations,
                )
            )
        elif name in missing:
            phases.append(summary.Phase(name, weight=weights[name], why=missing[name]))
    never = tuple(f"{phase.name}: {one.why}; {one.hint}" for phase in scores.phases for one in phase.unjudged)
    partial = (
        ("partial: the run was interrupted, and only what had finished is here",) if scores.partial else ()
    )
    return summary.summary_document(
        _subject(phase_summary, redact, notes=(*partial, *never, *noticed)),
        phases,
        overall=scores.score,
        gate=gate.word,
        rule=gate.rule,
        reasons=gate.reasons,
        minimum=minimum,
        trend=phase_summary.trend.runs,
        left_out=phase_summary.trend.left_out,
    )
