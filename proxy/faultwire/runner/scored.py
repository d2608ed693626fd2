"""The score of each phase and the overall score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire.contract.overall import PHASES, overall, phase_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.contract.matrix import Unjudged
    from faultwire.contract.score import Rate, ScenarioScore
    from faultwire.runner.play_phase import Outcome


@dataclass(frozen=True, slots=True)
class Scored:
    """A phase's `score`, 0 to 1 and None where no verdict was reached, the `rate` of invocations behind
    it, and counts of its cells. `decisions` only where runs were repeated until they decided."""

    name: str
    score: float | None
    rate: Rate
    passed: int
    failed: int
    unknown: int
    critical_failed: int
    decisions: tuple[str, ...] = ()
    partial: bool = False
    unjudged: tuple[Unjudged, ...] = ()
    """Critical invariants without a single verdict."""
    scenarios: tuple[ScenarioScore, ...] = ()
    judged: int = 0
    """Of what the score is made from, in `unit`."""
    asked: int = 0
    unit: Literal["cells", "invocations"] = "cells"
    invocations: int = 0
    """How many were played, also those that the score is not made from."""

    @property
    def cells(self) -> dict[str, int]:
        """Cells by verdict."""
        return {"pass": self.passed, "fail": self.failed, "unknown": self.unknown}


@dataclass(frozen=True, slots=True)
class Summary:
    """All phases that were played. `score` is their weighted mean, 0 to 1."""

    phases: tuple[Scored, ...]
    score: float | None

    @property
    def partial(self) -> bool:
        """Was a phase interrupted?"""
        return any(phase.partial for phase in self.phases)


def scored(outcome: Outcome) -> Scored:
    """A phase's number: of a contract its resilience score, of mutations and chaos the weighted share of
    invocations that came through, of incident sessions the share that passed."""
    matrix_score = outcome.matrix.score()
    number = phase_score(outcome.phase.name, outcome.matrix)
    return Scored(
        outcome.phase.name,
        number.value,
        number.rate,
        matrix_score.passed,
        matrix_score.failed,
        matrix_score.unknown,
        matrix_score.critical_failed,
        tuple(decision for _, decision in outcome.decisions),
        outcome.partial,
        outcome.matrix.unjudged,
        matrix_score.scenarios,
        number.judged,
        number.asked,
        number.unit,
        len(outcome.played),
    )


def summed(phases: Sequence[Scored], weights: Mapping[str, float]) -> Summary:
    """The phases in their order, with the overall score."""
    ordered = tuple(sorted(phases, key=lambda phase: PHASES.index(phase.name)))
    return Summary(ordered, overall({phase.name: phase.score for phase in ordered}, weights))
