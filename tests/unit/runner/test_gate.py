"""The exit code of a run, and the words for it."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.contract.matrix import Unjudged
from faultwire.contract.score import rate
from faultwire.runner.gate import Rule, gate
from faultwire.runner.scored import Scored, summed

WEIGHTS = {"mutation": 0.20, "chaos": 0.35, "contract": 0.35, "replay": 0.10}


NEVER = Unjudged("copes", "critical", "tool_faults_active", "`copes` is judged nowhere", "add one")


def phase(name: str = "contract", score: float | None = 1.0, **changes: Any) -> Scored:
    cells = {"passed": 4, "failed": 0, "unknown": 0, "critical_failed": 0} | changes
    verdict = "fail" if cells["failed"] else "unknown" if cells["unknown"] else "pass"
    return Scored(name, score, rate(4, 4), verdict, **cells)  # type: ignore[arg-type]


def code(*phases: Scored, **rule: Any) -> int:
    return gate(summed(phases, WEIGHTS), Rule(**rule)).code


def test_all_that_passed_is_zero() -> None:
    found = gate(summed([phase()], WEIGHTS), Rule())
    assert (found.code, found.reasons) == (0, ())


@pytest.mark.parametrize(
    ("changes", "rule", "expected"),
    [
        ({"failed": 1}, {}, 1),
        ({"failed": 1, "score": 0.9}, {"min_score": 0.9}, 0),
        ({"failed": 1, "score": 0.89}, {"min_score": 0.9}, 1),
        ({"failed": 1, "score": 0.95, "critical_failed": 1}, {"min_score": 0.9}, 1),
        ({"unknown": 1}, {}, 1),
        ({"unknown": 1}, {"allow_unknown": True}, 0),
        ({"unjudged": (NEVER,)}, {}, 1),
        ({"unjudged": (NEVER,)}, {"min_score": 0.5}, 1),
        ({"unjudged": (NEVER,)}, {"allow_unknown": True}, 0),
        ({"unknown": 1}, {"min_score": 0.5}, 1),
        ({"score": None, "passed": 0, "unknown": 4}, {"allow_unknown": True}, 1),
        ({"score": None, "passed": 0}, {"min_score": 0.0}, 1),
        ({"failed": 1, "decisions": ("good", "good")}, {}, 0),
        ({"failed": 9, "decisions": ("good", "bad")}, {}, 1),
        ({"failed": 9, "decisions": ("good", "exhausted")}, {}, 1),
        ({"failed": 9, "decisions": ("good", "exhausted")}, {"allow_unknown": True}, 1),
        ({"unknown": 9, "decisions": ("good", "exhausted")}, {"allow_unknown": True}, 0),
        ({"unknown": 9, "decisions": ("good", "exhausted")}, {}, 1),
        ({"failed": 1, "critical_failed": 1, "decisions": ("good",)}, {}, 1),
    ],
)
def test_codes(changes: dict[str, Any], rule: dict[str, Any], expected: int) -> None:
    assert code(phase(**changes), **rule) == expected


def test_never_judged_invariants_fail_with_a_hint() -> None:
    found = gate(summed([phase(unjudged=(NEVER,))], WEIGHTS), Rule())
    assert found.reasons == ("contract: `copes` is judged nowhere\n  hint: add one",)


def test_every_phase_must_reach_the_minimum_and_all_together() -> None:
    good, poor = phase("mutation", 0.95), phase("contract", 0.7, failed=3)
    assert code(good, poor, min_score=0.7) == 0
    found = gate(summed([good, poor], WEIGHTS), Rule(min_score=0.9))
    assert found.code == 1
    assert found.reasons == (
        "contract: the score 0.7000 is below the minimum 0.9",
        "the overall score 0.7909 is below the minimum 0.9",
    )


def test_reasons_count_in_words() -> None:
    found = gate(summed([phase(failed=1, critical_failed=1, unknown=2)], WEIGHTS), Rule())
    assert found.reasons == (
        "contract: 1 critical cell failed", "contract: 1 cell failed", "contract: 2 cells unknown",
    )  # fmt: skip


def test_interrupted_wins() -> None:
    found = gate(summed([phase(failed=1, partial=True)], WEIGHTS), Rule())
    assert found.code == 130


def test_a_missing_score_is_not_a_zero_score() -> None:
    found = gate(summed([phase("chaos", None, passed=9, unknown=1)], WEIGHTS), Rule(min_score=0.5))
    assert found.reasons == (
        "chaos: no score, because no invocation was fully judged",
        "chaos: 1 cell unknown",
    )
