from math import isclose

import pytest

from faultwire import _core
from faultwire.contract.statistics import compare, running_interval
from faultwire.report.statistics import samples, statistics_part


def runs(scenario, invariant, verdicts, prompt="p1"):
    """Repeats of one cell: P, F or U."""
    words = {"P": "pass", "F": "fail", "U": "unknown"}
    return [(scenario, prompt, at, invariant, words[v]) for at, v in enumerate(verdicts, 1)]


def test_each_scenario_and_each_square_has_its_rate_and_interval(make_matrix):
    part = statistics_part(
        make_matrix(*runs("calm", "a", "PPPP"), *runs("calm", "b", "PPUF"), *runs("chaos", "a", "PFUU"))
    )
    calm, chaos = part["scenarios"]
    assert (calm["scenario"], calm["passed"], calm["total"], calm["unknown"]) == ("calm", 3, 4, 0)
    assert (chaos["passed"], chaos["total"], chaos["unknown"]) == (1, 2, 2)
    assert (calm["low"], calm["high"]) == _core.jeffreys_interval(3, 4, 0.95)
    squares = {
        (s["invariant"], s["scenario"]): (s["passed"], s["total"], s["unknown"]) for s in part["squares"]
    }
    assert squares == {("a", "calm"): (4, 4, 0), ("b", "calm"): (2, 3, 1), ("a", "chaos"): (1, 2, 2)}


def test_one_failed_cell_spoils_an_invocation_and_an_unknown_one_does_not(make_matrix):
    part = statistics_part(make_matrix(*runs("calm", "a", "PPU"), *runs("calm", "b", "PFU")))
    (calm,) = part["scenarios"]
    assert (calm["passed"], calm["total"], calm["unknown"]) == (1, 2, 1)


def test_pass_k_is_the_mean_over_prompts_and_its_bound_is_of_all_runs(make_matrix):
    part = statistics_part(
        make_matrix(
            *runs("calm", "a", "PPPP"), *runs("calm", "a", "PPPF", "p2"), *runs("calm", "a", "PP", "p3")
        ),
        repeat=2,
    )
    (calm,) = part["scenarios"]
    assert calm["pass_k"]["k"] == part["k"] == 2
    assert isclose(
        calm["pass_k"]["value"], (1 + 3 / 6 + 1) / 3
    )  # C(4,2)/C(4,2), C(3,2)/C(4,2), C(2,2)/C(2,2)
    assert calm["pass_k"]["at_least"] == _core.pass_bound(9, 10, 2, 0.95)


def test_without_enough_repeats_there_is_no_estimate_of_pass_k(make_matrix):
    part = statistics_part(make_matrix(*runs("calm", "a", "PP")), repeat=5)
    assert part["scenarios"][0]["pass_k"]["value"] is None


def test_k_is_the_greatest_number_of_repeats(make_matrix):
    assert statistics_part(make_matrix(*runs("calm", "a", "PPP")))["k"] == 3
    assert statistics_part(make_matrix())["k"] == 1


def test_repeats_that_disagree_are_called_flaky(make_matrix):
    part = statistics_part(
        make_matrix(*runs("calm", "a", "PFP"), *runs("calm", "b", "FFF"), *runs("calm", "c", "PUP"))
    )
    assert part["flaky"] == [{"invariant": "a", "scenario": "calm", "prompt": "p1", "passed": 2, "failed": 1}]
    assert (part["flaky_count"], part["scenarios"][0]["flaky"]) == (1, 1)


def test_repeats_that_all_fail_are_called_broken(make_matrix):
    """Not one that failed once, not one of which a repeat is flaky, not one that is unknown otherwise."""
    part = statistics_part(
        make_matrix(
            *runs("calm", "a", "FFF"),
            *runs("calm", "b", "F"),
            *runs("calm", "c", "FFP"),
            *runs("calm", "d", "FU"),
        )
    )
    assert part["broken"] == [
        {"invariant": "a", "scenario": "calm", "prompt": "p1", "passed": 0, "failed": 3}
    ]
    assert (part["broken_count"], part["flaky_count"]) == (1, 1)


def test_other_prompts_that_disagree_are_not_flaky(make_matrix):
    part = statistics_part(make_matrix(*runs("calm", "a", "PP"), *runs("calm", "a", "FF", "p2")))
    assert part["flaky_count"] == 0


def many(name, verdict, count, invariant="a"):
    return [(name, f"p{at}", 1, invariant, verdict) for at in range(count)]


def test_a_scenario_is_held_against_calm_on_the_same_invocations(make_matrix):
    part = statistics_part(make_matrix(*many("calm", "pass", 12), *many("chaos", "fail", 12)))
    against = part["scenarios"][1]["against_calm"]
    assert part["scenarios"][0]["against_calm"] is None
    assert (against["test"], against["pairs"], against["difference"]) == ("mcnemar", 12, -1.0)
    assert (against["verdict"], against["p_value"]) == ("significant", _core.mcnemar(0, 12))


def test_p_values_of_scenarios_are_adjusted_for_each_other(make_matrix):
    rows = [*many("calm", "pass", 7), *many("one", "fail", 7)]
    alone = statistics_part(make_matrix(*rows))["scenarios"][1]["against_calm"]
    beside = statistics_part(
        make_matrix(*rows, *[row for n in range(9) for row in many(f"other{n}", "pass", 7)])
    )["scenarios"][1]["against_calm"]
    assert alone["p_value"] == _core.mcnemar(0, 7) < 0.05 < beside["p_value"]
    assert (alone["verdict"], beside["verdict"]) == ("significant", "not significant")
    assert isclose(beside["p_value"], alone["p_value"] * 10)


def test_without_a_calm_scenario_nothing_is_compared(make_matrix):
    part = statistics_part(make_matrix(*many("chaos", "fail", 12)))
    assert part["calm"] is None
    assert part["scenarios"][0]["against_calm"] is None


def test_invariants_that_do_worse_than_in_calm_are_listed(make_matrix):
    part = statistics_part(
        make_matrix(
            *many("calm", "pass", 12), *many("chaos", "fail", 12),
            *many("calm", "pass", 12, "b"), *many("chaos", "pass", 12, "b"),
            *many("calm", "fail", 12, "c"), *many("chaos", "pass", 12, "c"),
        )
    )  # fmt: skip
    listed = {(s["invariant"], s["scenario"]) for s in part["squares"] if s["listed"]}
    assert listed == {("a", "chaos")}  # `c` does better


def test_many_flaky_cells_are_counted_beyond_those_listed(make_matrix):
    rows = [row for at in range(300) for row in runs("calm", "a", "PF", f"p{at}")]
    part = statistics_part(make_matrix(*rows))
    assert (len(part["flaky"]), part["flaky_count"]) == (200, 300)


@pytest.mark.parametrize(
    ("now", "before", "test"),
    [
        ({("p", 1): True, ("q", 1): True}, {("p", 1): False, ("q", 1): True}, "mcnemar"),
        ({("p", 1): True}, {("p", 2): False}, "mcnemar"),  # one judged run of the prompt in each
        ({("p", 1): True}, {("q", 1): True}, "boschloo"),
        ({("p", 1): True, ("p", 2): True}, {("p", 1): False, ("p", 2): False}, "boschloo"),
        ({("p", 1): True, ("p", 2): True}, {("p", 1): False}, "boschloo"),
    ],
)
def test_only_prompts_that_were_judged_once_are_pairs(now, before, test):
    """The second repeat of a prompt is no partner of the second repeat in another run."""
    assert compare(*samples(now, before)).test == test


def test_prompts_of_one_run_alone_are_not_counted():
    now = {("p", 1): True, ("p", 2): True, ("new", 1): False}
    assert samples(now, {("p", 1): True, ("gone", 1): False}) == ((2, 2), (1, 1))


def test_rates_of_runs_that_decided_when_to_stop_have_an_interval_for_that(make_matrix):
    rows = runs("calm", "a", "PPPPPPPPPF")
    fixed = statistics_part(make_matrix(*rows))
    until = statistics_part(make_matrix(*rows), decisions=((("calm", "p1"), "good"),))
    assert (fixed["method"], until["method"]) == ("Jeffreys", "confidence sequence")
    (alone,), (looked,) = fixed["scenarios"], until["scenarios"]
    assert (looked["low"], looked["high"]) == running_interval(9, 10)
    assert looked["low"] < alone["low"] < alone["high"] < looked["high"]
    assert (until["squares"][0]["low"], until["squares"][0]["high"]) == running_interval(9, 10)


def test_decisions_stand_as_they_were_made(make_matrix):
    part = statistics_part(make_matrix(), decisions=((("chaos", "p1"), "bad"), (("calm", "p1"), "good")))
    assert part["decisions"] == [
        {"scenario": "chaos", "prompt": "p1", "decision": "bad"},
        {"scenario": "calm", "prompt": "p1", "decision": "good"},
    ]
