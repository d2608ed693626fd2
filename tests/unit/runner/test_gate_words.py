"""What a verdict is, phase by phase, and the words for it.

Covers faultwire.runner.gate and faultwire.runner.scored.
"""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.contract.cells import Cell, Invocation, Prompt, Scenario
from faultwire.contract.matrix import Matrix, Unjudged
from faultwire.contract.score import ScenarioScore, rate
from faultwire.events import Verdict
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile
from faultwire.runner.gate import PhaseGate, Rule, gate
from faultwire.runner.phases import Phase
from faultwire.runner.play_phase import Outcome
from faultwire.runner.scored import Scored, Summary, scored, summed

NEVER = Unjudged("copes", "critical", "always", "`copes` is judged nowhere", "add one")
INTERRUPTED = "the run was interrupted; what had finished is in the report"


def phase(name: str = "contract", score: float | None = 1.0, **changes: Any) -> Scored:
    cells = {"passed": 4, "failed": 0, "unknown": 0, "critical_failed": 0, "judged": 4, "asked": 4} | changes
    return Scored(name, score, rate(4, 4), **cells)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "rule", "word", "reasons"),
    [
        ({}, {}, "pass", ()),
        ({"failed": 2}, {}, "fail", ("2 cells failed",)),
        ({"failed": 1, "critical_failed": 1}, {"min_score": 0.5}, "fail", ("1 critical cell failed",)),
        ({"score": 0.4}, {"min_score": 0.5}, "fail", ("the score 40.00 is below the minimum 50.00",)),
        ({"unknown": 1}, {}, "unknown", ("1 cell unknown",)),
        ({"unjudged": (NEVER,)}, {}, "unknown", ("`copes` is judged nowhere\n  hint: add one",)),
        ({"score": None, "judged": 0}, {}, "unknown", ("no score, because nothing was judged",)),
        (
            {"score": None, "judged": 2},
            {},
            "unknown",
            ("no score, because only 2 of 4 cells were judged",),
        ),
        ({"decisions": ("bad", "good")}, {}, "fail", ("1 pass rate decided as bad",)),
        ({"decisions": ("bad", "bad")}, {}, "fail", ("2 pass rates decided as bad",)),
        ({"decisions": ("exhausted",)}, {}, "unknown", ("1 pass rate undecided",)),
        ({"decisions": ("exhausted",)}, {"allow_unknown": True}, "pass", ()),
        ({"decisions": ("exhausted",) * 2, "failed": 1}, {}, "fail", ("2 pass rates undecided",)),
        (
            {"scenarios": (ScenarioScore("cut", 100.0, 2, 4),)},
            {"floors": {"cut": 0.5}},
            "unknown",
            ("the scenario `cut` has a floor, but only 2 of its 4 cells were judged",),
        ),
        (
            {"scenarios": (ScenarioScore("cut", None, 3, 4),)},
            {"floors": {"cut": 0.5}},
            "unknown",
            ("the scenario `cut` has a floor, but only 3 of its 4 cells were judged",),
        ),
    ],
)
def test_a_phase_has_a_verdict_of_its_own_and_says_why(
    changes: dict[str, Any], rule: dict[str, Any], word: str, reasons: tuple[str, ...]
) -> None:
    found = gate(summed([phase(**changes), phase("chaos")], {"chaos": 0.0, "contract": 1.0}), Rule(**rule))
    texts = tuple(f"contract: {reason}" for reason in reasons)
    assert found.phases["contract"] == PhaseGate(word, texts)  # type: ignore[arg-type]
    assert found.phases["chaos"] == PhaseGate("pass")
    assert (found.word, found.code) == (word, 1 if reasons else 0)
    assert tuple(one.partition("\n  hint: `--")[0] for one in found.reasons[: len(texts)]) == texts


def test_the_overall_score_counts_on_its_own_and_may_equal_the_minimum() -> None:
    phases = (phase("chaos"), phase())
    below = gate(Summary(phases, 0.4), Rule(min_score=0.5))
    assert (below.word, below.reasons) == ("fail", ("the overall score 40.00 is below the minimum 50.00",))
    assert gate(Summary(phases, 0.5), Rule(min_score=0.5)).word == "pass"
    assert gate(Summary(phases[:1], 0.4), Rule(min_score=0.5)).word == "pass"
    none = gate(summed([phase("chaos", None), phase("contract", None)], {}), Rule(min_score=0.5))
    assert (none.word, len(none.reasons)) == ("unknown", 2)


def test_a_run_that_was_interrupted_or_void_says_so() -> None:
    cut = gate(summed([phase(partial=True), phase("chaos")], {}), Rule())
    assert (cut.code, cut.word, cut.reasons) == (130, "unknown", (INTERRUPTED,))
    assert (cut.phases["contract"].word, cut.phases["chaos"].word) == ("unknown", "pass")
    void = gate(summed([phase(failed=2)], {}), Rule(), "why")
    texts = ("contract: 2 cells failed", "the run is inconclusive: why")
    assert (void.word, void.reasons, void.phases) == (
        "unknown",
        texts,
        {"contract": PhaseGate("unknown", texts)},
    )
    assert gate(summed([], {}), Rule()).word == "unknown"


def test_a_rule_in_words() -> None:
    decided = "every pass rate must be decided as good, and no critical cell may fail"
    assert Rule().words() == "every cell must pass"
    assert Rule().words(decided=True) == decided
    assert gate(summed([phase(decisions=("good",)), phase("chaos")], {}), Rule()).rule == decided
    assert gate(summed([phase()], {}), Rule()).rule == "every cell must pass"
    assert Rule(allow_unknown=True, floors={"a": 0.5, "b": 1.0}).words() == (
        "every cell must pass; scenarios must reach their floors: `a` 50.00, `b` 100.00; "
        "unknown cells are allowed"
    )


def test_a_phase_is_scored_from_its_cells() -> None:
    scenarios = (
        Scenario("calm", Profile(name="calm")),
        Scenario("cut", merge([inline("status: {code: 503}")])),
    )
    prompt = Prompt("p", "?")
    words = (("calm", "pass"), ("calm", "fail"), ("cut", "fail"), ("cut", "unknown"), ("cut", "pass"))
    cells = tuple(
        Cell("i", "critical", Invocation(scenarios[name == "cut"], prompt, at), Verdict(word, ""))  # type: ignore[arg-type]
        for at, (name, word) in enumerate(words, 1)
    )
    played = Phase("chaos", scenarios, (prompt,), (), ())
    matrix = Matrix(cells, (NEVER,))
    decisions = ((("cut", "p"), "bad"), (("calm", "p"), "good"))
    found = scored(Outcome(played, (), matrix, True, decisions))  # type: ignore[arg-type]
    assert found == Scored(
        "chaos", 0.5, rate(1, 2), 2, 2, 1, 2, ("bad", "good"), True, (NEVER,), matrix.score().scenarios,
        2, 3, "invocations",
    )  # fmt: skip
    assert [one.name for one in found.scenarios] == ["calm", "cut"]
    assert found.cells == {"pass": 2, "fail": 2, "unknown": 1}
