"""The exit code of a run and its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.runner.scored import Scored, Summary

PASS, FAIL, INTERRUPTED = 0, 1, 130


@dataclass(frozen=True, slots=True)
class Gate:
    """The exit code and its reasons."""

    code: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """The pass criteria. Without `min_score` every verdict must pass. With it, 0 to 1, the score of every
    phase and the overall one must reach it, and no critical invariant may fail. `allow_unknown` forgives
    unknown cells, and critical invariants that were never judged."""

    min_score: float | None = None
    allow_unknown: bool = False


def gate(summary: Summary, rule: Rule) -> Gate:
    """Judge a run by its phases."""
    if summary.partial:
        return Gate(INTERRUPTED, ("the run was interrupted; what had finished is in the report",))
    reasons = [reason for phase in summary.phases for reason in _phase(phase, rule)]
    score, least = summary.score, rule.min_score
    if least is not None and len(summary.phases) > 1 and score is not None and score < least:
        reasons.append(f"the overall score {score:.4f} is below the minimum {least:g}")
    return Gate(FAIL if reasons else PASS, tuple(reasons))


def _phase(phase: Scored, rule: Rule) -> Iterator[str]:
    """The reasons why one phase fails."""
    if phase.score is None:
        yield f"{phase.name}: no score, because no invocation was fully judged"
    if phase.critical_failed:
        yield f"{phase.name}: {_count(phase.critical_failed, 'critical cell')} failed"
    if rule.min_score is None:
        yield from _verdicts(phase, rule)
    elif phase.score is not None and phase.score < rule.min_score:
        yield f"{phase.name}: the score {phase.score:.4f} is below the minimum {rule.min_score:g}"
    if phase.unknown and not rule.allow_unknown:
        yield f"{phase.name}: {_count(phase.unknown, 'cell')} unknown"
    for one in () if rule.allow_unknown else phase.unjudged:
        yield f"{phase.name}: {one.why}\n  hint: {one.hint}"


def _verdicts(phase: Scored, rule: Rule) -> Iterator[str]:
    """Without a minimum: what the runs decided, where they were repeated until they did, else any
    failed cell. Rates that nobody decided excuse no failure: they are harmless only where the verdicts
    that are missing are unknown ones."""
    bad, undecided = phase.decisions.count("bad"), phase.decisions.count("exhausted")
    if bad:
        yield f"{phase.name}: {_count(bad, 'pass rate')} decided as bad"
    if undecided and (phase.failed or not rule.allow_unknown):
        yield f"{phase.name}: {_count(undecided, 'pass rate')} undecided"
    if phase.failed and not phase.decisions:
        yield f"{phase.name}: {_count(phase.failed, 'cell')} failed"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
