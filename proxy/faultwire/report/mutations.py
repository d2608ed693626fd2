"""Results on mutated prompts: the pass rate of each mutation type, and the robustness."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from faultwire.contract.overall import is_mutant, outcomes, robustness
from faultwire.contract.statistics import rate
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.contract.matrix import Matrix

NOTES = 50
"""Notes that a report repeats."""


def mutations_part(matrix: Matrix, notes: Iterable[str] = ()) -> dict[str, Any] | None:
    """Robustness (0 to 1), and per type of mutation its invocations; None where no prompt is a mutant.

    `notes` say which mutations could not be made or sent, and why. Intervals are about single invocations
    and leave their weights aside.
    """
    results = outcomes(matrix)
    mutants = {c.invocation.id: c.invocation.prompt for c in matrix.cells if is_mutant(c.invocation)}
    if not mutants:
        return None
    by_type: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for where, prompt in mutants.items():
        kind = prompt.origin or "unknown"
        by_type.setdefault(kind, []).append(results[where])
        weights.setdefault(kind, prompt.weight)
    whole = robustness(matrix, is_mutant)
    return {
        "robustness": whole.value,
        **_rated(whole.rate.passed, whole.rate.total, whole.unknown),
        "types": [
            {"type": kind, "weight": weights[kind], **_counted(verdicts)}
            for kind, verdicts in sorted(by_type.items())
        ],
        "notes": [clip(note, 500) for note in notes][:NOTES],
    }


def _counted(verdicts: list[str]) -> dict[str, Any]:
    passed, failed = verdicts.count("pass"), verdicts.count("fail")
    return _rated(passed, passed + failed, verdicts.count("unknown"))


def _rated(passed: int, total: int, unknown: int) -> dict[str, Any]:
    found = rate(passed, total)
    rated = asdict(found)
    return {key: rated[key] for key in ("passed", "total", "low", "high")} | {
        "rate": found.value,
        "unknown": unknown,
    }
