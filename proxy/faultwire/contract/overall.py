"""Scores over weighted verdicts: robustness of prompts, and the overall score of several phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire.contract.score import Rate, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from faultwire.contract.cells import Invocation
    from faultwire.contract.matrix import Matrix

VerdictName = Literal["pass", "fail", "unknown"]
PHASES = ("mutation", "chaos", "contract", "replay")
"""In the order in which they are played and shown."""


@dataclass(frozen=True, slots=True)
class Robustness:
    """`value` is Σ(w passed)/Σ(w) over invocations with a verdict, 0 to 1; None where no more than half have
    one.

    The interval of `rate` is about single invocations and leaves their weights aside.
    """

    value: float | None
    rate: Rate
    judged: int
    """How many of those `asked` have a verdict, in `unit`."""
    asked: int
    unit: Literal["cells", "invocations"] = "invocations"

    @property
    def unknown(self) -> int:
        """How many have no verdict."""
        return self.asked - self.judged


def outcomes(matrix: Matrix) -> dict[str, VerdictName]:
    """What became of every invocation: one failed cell fails it, else one unknown leaves it unknown."""
    found: dict[str, VerdictName] = {}
    order: tuple[VerdictName, ...] = ("pass", "unknown", "fail")
    for cell in matrix.cells:
        where, verdict = cell.invocation.id, cell.verdict.verdict
        if where not in found or order.index(verdict) > order.index(found[where]):
            found[where] = verdict
    return found


def robustness(matrix: Matrix, counts: Callable[[Invocation], bool]) -> Robustness:
    """The score of those invocations of a matrix that count, by the weights of their prompts."""
    weights = {
        cell.invocation.id: cell.invocation.prompt.weight for cell in matrix.cells if counts(cell.invocation)
    }
    return weighted(
        (weights[where], verdict) for where, verdict in outcomes(matrix).items() if where in weights
    )


def phase_score(phase: str, matrix: Matrix) -> Robustness:
    """The number of a phase, 0 to 1: of mutations and chaos the weighted share of invocations that came
    through, of replayed incidents the share that passed, else the resilience score over cells."""
    if phase == "mutation":
        return robustness(matrix, is_mutant)
    if phase == "chaos":
        return robustness(matrix, is_broken)
    if phase == "replay":
        return weighted((1.0, verdict) for verdict in outcomes(matrix).values())
    score = matrix.score()
    judged = score.passed + score.failed
    value = None if score.value is None else score.value / 100
    return Robustness(value, score.clean, judged, judged + score.unknown, "cells")


def is_mutant(invocation: Invocation) -> bool:
    """Did a mutation make its prompt? Those make the mutation phase's score."""
    return bool(invocation.prompt.golden)


def is_broken(invocation: Invocation) -> bool:
    """Does its scenario have faults? Those make the chaos phase's score."""
    return bool(invocation.scenario.profile.entries)


def weighted(verdicts: Iterable[tuple[float, VerdictName]]) -> Robustness:
    """Σ(w passed)/Σ(w) of `(weight, verdict)` pairs; unknown ones count for nothing."""
    known = list(verdicts)
    judged = [(weight, verdict == "pass") for weight, verdict in known if verdict != "unknown"]
    total = sum(weight for weight, _ in judged)
    enough = total and 2 * len(judged) > len(known)  # a number for half of what was asked would be a guess
    value = sum(weight for weight, passed in judged if passed) / total if enough else None
    return Robustness(value, rate(sum(passed for _, passed in judged), len(judged)), len(judged), len(known))


def overall(scores: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """The weighted mean of the phases that ran and have a score, each 0 to 1.

    Without any weight on them they count alike. None where no phase has a score.
    """
    known = {phase: score for phase, score in scores.items() if score is not None}
    total = sum(weights.get(phase, 0.0) for phase in known)
    if not known:
        return None
    if not total:
        return sum(known.values()) / len(known)
    return sum(score * weights.get(phase, 0.0) for phase, score in known.items()) / total
