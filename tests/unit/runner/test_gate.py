"""The exit code of a run, and the words for it."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.contract.matrix import Unjudged
from faultwire.contract.score import ScenarioScore, rate
from faultwire.runner.gate import Rule, gate
from faultwire.runner.scored import Scored, summed

CALM = ScenarioScore("calm", 100.0, 4, 4)
WEIGHTS = {"mutation": 0.20, "chaos": 0.35, "contract": 0.35, "replay": 0.10}


ALLOW = "`--allow-unknown` accepts what was not judged"
NO_HELP = "`--min-score` needs a score, which `--allow-unknown` does not give"
WHERE = "the report says of each cell why it is unknown"
NEVER = Unjudged("copes", "critical", "tool_faults_active", "`copes` is judged nowhere", "add one")


def phase(name: str = "contract", score: float | None = 1.0, **changes: Any) -> Scored:
    cells = {"passed": 4, "failed": 0, "unknown": 0, "critical_failed": 0} | changes
    return Scored(name, score, rate(4, 4), **cells)  # type: ignore[arg-type]


def code(*phases: Scored, **rule: Any) -> int:
    found = gate(summed(phases, WEIGHTS), Rule(**rule))
    assert (found.word == "pass") == (found.code == 0), "one verdict, in one word"
    return found.code


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
        "contract: the score 70.00 is below the minimum 90.00",
        "the overall score 79.09 is below the minimum 90.00",
    )


def test_reasons_count_in_words() -> None:
    found = gate(summed([phase(failed=1, critical_failed=1, unknown=2)], WEIGHTS), Rule())
    assert found.reasons == (
        "contract: 1 critical cell failed", "contract: 1 cell failed", "contract: 2 cells unknown",
    )  # fmt: skip


def test_interrupted_wins() -> None:
    found = gate(summed([phase(failed=1, partial=True)], WEIGHTS), Rule())
    assert (found.code, found.word) == (130, "fail")
    assert gate(summed([phase(partial=True)], WEIGHTS), Rule()).word == "unknown"


def test_failures_that_the_rule_allows_leave_the_word_pass() -> None:
    found = gate(summed([phase(failed=2, score=0.95)], WEIGHTS), Rule(min_score=0.9))
    assert (found.code, found.word, found.reasons) == (0, "pass", ())
    assert found.phases["contract"].word == "pass"
    assert found.rule == "every score must be at least 90.00, and no critical cell may fail"


def test_an_inconclusive_run_has_no_verdict() -> None:
    found = gate(summed([phase(failed=2)], WEIGHTS), Rule(), "the agent could not be reset")
    assert (found.word, found.phases["contract"].word) == ("unknown", "unknown")
    assert found.reasons[-1] == "the run is inconclusive: the agent could not be reset"


CUT = ScenarioScore("cut", 50.0, 4, 4)


@pytest.mark.parametrize(
    ("scenario", "rule", "word"),
    [
        (CUT, {"floors": {"cut": 0.5}}, "pass"),
        (CUT, {"floors": {"cut": 0.51}}, "fail"),
        (CUT, {"floors": {"cut": 0.51}, "min_score": 0.1}, "fail"),
        (CUT, {"floors": {"other": 1.0}}, "pass"),
        (ScenarioScore("cut", 100.0, 2, 4), {"floors": {"cut": 0.5}}, "unknown"),
        (ScenarioScore("cut", None, 0, 4), {"floors": {"cut": 0.0}}, "unknown"),
        (ScenarioScore("cut", None, 0, 4), {"floors": {"cut": 0.5}, "allow_unknown": True}, "pass"),
    ],
)
def test_a_scenario_must_reach_its_floor(scenario: ScenarioScore, rule: dict[str, Any], word: str) -> None:
    found = gate(summed([phase(scenarios=(CALM, scenario))], WEIGHTS), Rule(**rule))
    assert found.word == word


def test_a_floor_is_named_with_both_numbers() -> None:
    found = gate(summed([phase(scenarios=(CUT,))], WEIGHTS), Rule(floors={"cut": 0.9}))
    assert found.reasons == ("contract: the scenario `cut` has a score of 50.00, below its floor 90.00",)
    assert found.rule == "every cell must pass; scenarios must reach their floors: `cut` 90.00"


def test_a_score_just_below_the_minimum_is_not_shown_as_equal_to_it() -> None:
    found = gate(summed([phase(score=0.899999, failed=1)], WEIGHTS), Rule(min_score=0.9))
    assert found.reasons == ("contract: the score 89.999900 is below the minimum 90.000000",)


@pytest.mark.parametrize(
    ("judged", "rule", "word"),
    [
        (2, {"allow_unknown": True}, "pass"),
        (0, {"allow_unknown": True}, "unknown"),
        (2, {"allow_unknown": True, "min_score": 0.5}, "unknown"),
    ],
)
def test_without_a_score_only_a_rule_that_needs_none_passes(
    judged: int, rule: dict[str, Any], word: str
) -> None:
    half = phase("chaos", None, passed=judged, unknown=4 - judged, judged=judged, asked=4)
    assert gate(summed([half], WEIGHTS), Rule(**rule)).word == word


def test_a_missing_score_is_not_a_zero_score() -> None:
    half = phase("chaos", None, passed=9, unknown=1, judged=2, asked=4, unit="invocations")
    found = gate(summed([half], WEIGHTS), Rule(min_score=0.5))
    assert found.reasons == (
        "chaos: no score, because only 2 of 4 invocations were judged",
        f"chaos: 1 cell unknown\n  hint: {NO_HELP}; {WHERE}",
    )


@pytest.mark.parametrize(
    ("changes", "rule", "hint"),
    [
        ({"unknown": 1}, {}, ALLOW),
        ({"unknown": 1}, {"min_score": 0.5}, ALLOW),
        ({"score": None, "unknown": 2, "judged": 2, "asked": 4}, {}, ALLOW),
        ({"score": None, "passed": 0, "unknown": 4}, {"min_score": 0.5}, f"{NO_HELP}; {WHERE}"),
        ({"score": None, "unknown": 2, "judged": 2, "asked": 4}, {"min_score": 0.5}, f"{NO_HELP}; {WHERE}"),
        (
            {"score": None, "passed": 0, "unknown": 4},
            {},
            f"`--allow-unknown` accepts no run in which nothing was judged; {WHERE}",
        ),
    ],
)
def test_where_too_much_is_unknown_the_hint_names_what_helps(
    changes: dict[str, Any], rule: dict[str, Any], hint: str
) -> None:
    found = gate(summed([phase(**changes)], WEIGHTS), Rule(**rule))
    assert found.reasons[-1].partition("\n  hint: ")[2] == hint
    again = gate(summed([phase(**changes)], WEIGHTS), Rule(**rule, allow_unknown=True))
    assert (again.word == "pass") == (hint == ALLOW), "what is said of the flag is so"
    assert found.phases["contract"].reasons[-1] == found.reasons[-1].partition("\n")[0]


@pytest.mark.parametrize(
    ("changes", "void"),
    [
        ({"failed": 1, "unknown": 1}, None),
        ({"unknown": 1}, "why"),
        ({"unknown": 1, "partial": True}, None),
        ({}, None),
    ],
)
def test_where_something_else_is_wrong_no_flag_is_named(changes: dict[str, Any], void: str | None) -> None:
    found = gate(summed([phase(**changes)], WEIGHTS), Rule(), void)
    assert not [reason for reason in found.reasons if "--allow-unknown" in reason]
