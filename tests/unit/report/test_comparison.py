import pytest

from faultwire import _core
from faultwire.report.comparison import comparison_part, of_phase, result, trend_part


def doc(verdicts, *, run="now", prompts=None, scenario="chaos", digest="d", seed=42, score=50.0):
    """A document with one invariant, a prompt for each verdict."""
    texts = prompts or [f"text {at}" for at in range(len(verdicts))]
    words = {"P": "pass", "F": "fail", "U": "unknown"}
    return {
        "run": {"id": run, "started_at": "2026-11-22T00:00:00+00:00", "seed": seed, "ledger": "ab"},
        "score": {"number": score, "gate": "fail"},
        "scenarios": [{"name": scenario, "digest": digest}],
        "prompts": [{"id": f"{run}{at}", "text": text} for at, text in enumerate(texts)],
        "invocations": [
            {"id": f"{scenario}/{run}{at}/r1", "scenario": scenario, "prompt": f"{run}{at}", "repeat": 1}
            for at in range(len(verdicts))
        ],
        "cells": [
            {
                "invariant": "a",
                "invocation": f"{scenario}/{run}{at}/r1",
                "scenario": scenario,
                "verdict": words[v],
            }
            for at, v in enumerate(verdicts)
        ],
    }


def test_a_difference_beyond_chance_is_significant():
    part = comparison_part(doc("F" * 20), doc("P" * 20, run="then"))
    overall = part["overall"]
    assert (overall["verdict"], overall["difference"], overall["test"]) == ("significant", -1.0, "mcnemar")
    assert (overall["pairs"], overall["now"], overall["before"]) == (
        20, {"passed": 0, "total": 20}, {"passed": 20, "total": 20},
    )  # fmt: skip
    assert overall["p_value"] == _core.mcnemar(0, 20)  # the one scenario is the whole: one test
    assert (overall["family"], part["scenarios"][0]["p_value"]) == (1, overall["p_value"])
    assert (part["worse_count"], part["better_count"]) == (20, 0)
    assert part["worse"][0] == {"invariant": "a", "invocation": "chaos/now0/r1"}


def test_equal_runs_have_no_significant_difference():
    overall = comparison_part(doc("PPFPP"), doc("PPFPP", run="then"))["overall"]
    assert (overall["verdict"], overall["difference"], overall["p_value"]) == ("not significant", 0.0, 1.0)


def test_a_few_runs_are_never_significant():
    overall = comparison_part(doc("FFF"), doc("PPP", run="then"))["overall"]
    assert (overall["verdict"], overall["difference"]) == ("not significant", -1.0)


def test_prompts_are_the_same_by_their_text_and_not_by_their_number():
    now = doc("PPP", prompts=["new", "a", "b"])
    then = doc("FF", run="then", prompts=["a", "b"])
    part = comparison_part(now, then)
    assert (part["overall"]["test"], part["overall"]["pairs"]) == ("mcnemar", 2)
    assert {cell["invocation"] for cell in part["better"]} == {"chaos/now1/r1", "chaos/now2/r1"}


def test_without_a_shared_invocation_the_samples_are_independent():
    part = comparison_part(doc("P" * 30, prompts=[f"x{n}" for n in range(30)]), doc("F" * 30, run="then"))
    assert (part["overall"]["test"], part["overall"]["pairs"], part["overall"]["verdict"]) == (
        "boschloo", 0, "significant",
    )  # fmt: skip
    assert part["better_count"] == 0


def test_scenarios_that_only_one_run_has_are_named_and_not_compared():
    part = comparison_part(doc("PP", scenario="new"), doc("PP", run="then", scenario="old"))
    assert (part["only_now"], part["only_before"], part["scenarios"]) == (["new"], ["old"], [])


def test_with_one_scenario_in_common_the_whole_is_still_a_test_of_its_own():
    """Only where neither run has another scenario is the whole the same as that scenario."""
    now, before = doc("PP"), doc("PP", run="then")
    more = doc("FF", scenario="new")
    for key in ("scenarios", "invocations", "cells"):
        now[key] = [*now[key], *more[key]]
    part = comparison_part(now, before)
    assert part["only_now"] == ["new"]
    assert part["overall"]["now"] == {"passed": 2, "total": 4}
    assert part["scenarios"][0]["now"] == {"passed": 2, "total": 2}
    assert part["overall"]["family"] == 2


def test_changed_faults_and_seed_are_reported():
    part = comparison_part(doc("PP", digest="e", seed=7), doc("PP", run="then"))
    assert (part["scenarios"][0]["profile_changed"], part["same_seed"]) == (True, False)
    assert part["before"]["id"] == "then"
    same = comparison_part(doc("PP"), doc("PP", run="then"))
    assert (same["scenarios"][0]["profile_changed"], same["same_seed"]) == (False, True)


def test_unknown_cells_are_not_compared():
    part = comparison_part(doc("UP"), doc("PU", run="then"))
    assert (part["overall"]["now"]["total"], part["overall"]["pairs"], part["worse_count"]) == (1, 0, 0)


def test_a_run_without_a_verdict_cannot_be_compared():
    overall = comparison_part(doc("UU"), doc("PP", run="then"))["overall"]
    assert (overall["test"], overall["difference"], overall["verdict"]) == ("none", None, "not significant")


def test_result_is_score_and_gate():
    assert result(doc("P")) == {"score": 50.0, "gate": "fail"}


def test_a_trend_is_in_order_and_only_so_long():
    runs = [
        {"id": f"r{n}", "started_at": f"2026-01-{n:02d}", "score": n, "gate": "pass"}
        for n in range(28, 0, -1)
    ]
    part = trend_part(runs, {"agent": 3})
    assert part["left_out"] == {"agent": 3}
    assert [run["score"] for run in part["runs"]] == [float(n) for n in range(1, 29)]
    assert trend_part(runs * 2, {})["runs_not_shown"] == 6


@pytest.mark.parametrize("score", [None, "90", True, -1, 101, float("nan")])
def test_an_invalid_score_is_none(score):
    (run,) = trend_part([{"id": "a", "score": score, "gate": "great", "seed": "x"}], {})["runs"]
    assert (run["score"], run["gate"], run["seed"]) == (None, "unknown", None)


def test_a_trend_of_a_phase_is_of_its_own_scores():
    runs = [{"id": "a", "score": 80.0, "scores": {"chaos": 0.5, "replay": None}}, {"id": "b", "score": 70.0}]
    assert [run["score"] for run in of_phase(runs, "chaos")] == [50.0, 70.0]
    assert [run["score"] for run in of_phase(runs, "replay")] == [None, 70.0]
    assert list(of_phase(runs, "")) == runs
