"""Comparisons, streaks and stopping rules to the last member: what each says, and where it begins to."""

from dataclasses import replace
from math import exp, log

import pytest

from faultwire import _core
from faultwire.contract import statistics as ours
from faultwire.contract.statistics import Comparison, Streak, Until, compare, compare_all, findable
from faultwire.errors import UsageError


def pairs(both: int, first: int, second: int, neither: int) -> tuple[dict, dict]:
    made = (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )
    return {n: now for n, (now, _) in enumerate(made)}, {n: before for n, (_, before) in enumerate(made)}


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("table", [(5, 6, 2, 3), (1, 0, 9, 4), (7, 3, 3, 1)])
def test_pairs_are_counted_each_way(table, confidence):
    both, first, second, neither = table
    low, high = _core.newcombe_paired_interval(both, first, second, neither, confidence)
    p = _core.mcnemar(first, second)
    verdict = "significant" if table == (1, 0, 9, 4) else "not significant"
    assert compare(*pairs(*table), confidence) == Comparison(
        (first - second) / sum(table), low, high, p, "mcnemar", verdict, sum(table)
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_independent_samples_have_a_difference_with_an_interval(confidence):
    now, before = (9, 12), (3, 9)
    low, high = _core.newcombe_interval(now, before, confidence)
    p = _core.boschloo_test(now, before)
    assert 0.05 < p < 0.2
    expected = Comparison(
        9 / 12 - 3 / 9, low, high, p, "boschloo", "significant" if confidence == 0.8 else "not significant"
    )
    assert compare(now, before, confidence) == expected


@pytest.mark.parametrize("samples", [((0, 0), (6, 6)), ((6, 6), (0, 0)), ((0, 0), (0, 0))])
def test_a_sample_without_runs_says_nothing(samples):
    assert compare(*samples) == Comparison(None, -1.0, 1.0, None, "none", "not significant")


def test_a_large_sample_is_judged_by_its_interval_and_the_largest_for_a_test_is_not():
    low, high = _core.newcombe_interval((1900, 2000), (1500, 2000), 0.95)
    expected = Comparison(1900 / 2000 - 1500 / 2000, low, high, None, "interval", "significant")
    assert compare((1900, 2000), (1500, 2000)) == expected
    assert compare((1000, 1000), (0, 5)).test == "boschloo"
    assert compare((1001, 1001), (0, 5)).test == "interval"


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [((0.0, 0.2), "not significant"), ((-0.2, 0.0), "not significant"), ((0.01, 0.2), "significant")],
)
def test_an_interval_that_touches_zero_shows_nothing(monkeypatch, ends, verdict):
    monkeypatch.setattr(ours._core, "newcombe_interval", lambda *_: ends)
    assert compare((1900, 2000), (1500, 2000)).verdict == verdict


def test_a_sample_by_subject_and_one_by_count_are_independent():
    by_subject = {n: n < 9 for n in range(10)}
    assert compare(by_subject, (2, 10)) == compare((9, 10), (2, 10))
    assert compare((9, 10), by_subject) == compare((9, 10), (9, 10))


@pytest.mark.parametrize(
    ("sample", "p"),
    [
        (pairs(0, 0, 5, 1), 0.0625),
        (((9, 10), (10, 10)), _core.boschloo_test((9, 10), (10, 10))),
    ],
)
def test_a_p_value_at_the_level_shows_nothing(sample, p):
    level = 1 - p
    assert (1 - level, compare(*sample, level).p_value) == (p, p)
    assert compare(*sample, level).verdict == "not significant"
    assert compare_all([sample], level)[0].verdict == "not significant"
    assert compare(*sample, level - 1e-9).verdict == "significant"
    assert compare_all([sample], level - 1e-9)[0].verdict == "significant"


def test_comparisons_keep_all_but_their_p_value_interval_and_verdict():
    samples = [pairs(0, 0, 9, 1), ((0, 0), (1, 1)), ((9, 10), (1, 10))]
    one, none, two = (compare(*sample) for sample in samples)
    first, last, second = compare_all(samples)
    assert last == none
    for found, alone, sample in ((first, one, samples[0]), (second, two, samples[2])):
        wide = compare(*sample, 0.975)  # two were tested: each interval at 1 - 0.05 / 2
        assert found == replace(
            alone, low=wide.low, high=wide.high, p_value=found.p_value, verdict="significant", family=2
        )
    assert [first.p_value, second.p_value] == _core.holm([one.p_value, two.p_value])


def test_the_share_of_false_alarms_is_a_bound_that_may_be_reached():
    assert ours.suspects([0.05], 0.05) == (True,)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_confidence_asked_for_is_the_one_used(confidence):
    for method, interval in ours._INTERVALS.items():
        found = ours.rate(3, 9, method, confidence)
        assert (found.low, found.high) == interval(3, 9, confidence)
        assert (found.confidence, found.method) == (confidence, method)
    expected = Streak(2, _core.pass_hat(3, 9, 2), _core.pass_bound(3, 9, 2, confidence), confidence)
    assert ours.streak(3, 9, 2, confidence) == expected
    assert ours.running_interval(3, 9, confidence) == _core.confidence_sequence(3, 9, confidence)


def test_always_the_same_verdict_is_not_flaky():
    assert not ours.is_flaky(["fail", "fail"])
    assert not ours.is_flaky(["unknown", "fail"])


# ---------------------------------------------------------------- until


@pytest.mark.parametrize(
    "bad",
    [
        {"bad": 0.0}, {"bad": 0.7, "good": 0.7}, {"alpha": 0.5}, {"alpha": 0.6}, {"beta": 0.0}, {"beta": 0.5},
        {"beta": 0.6}, {"most": -1},
    ],
)  # fmt: skip
def test_rates_and_levels_at_their_bounds_are_refused(bad):
    with pytest.raises(UsageError, match=r"found .+, expected "):
        Until(**bad)


def test_what_is_refused_is_reported():
    said = []
    for bad in ({"bad": 0.9, "good": 0.5}, {"alpha": 0.7}, {"most": 0}):
        with pytest.raises(UsageError) as error:
            Until(**bad)
        said.append(error.value.message)
    assert said == [
        "found rates 0.9 and 0.5, expected 0 < bad < good < 1",
        "found levels 0.7 and 0.05, expected both between 0 and 0.5",
        "found at most 0 runs, expected at least 1",
    ]


def test_one_run_at_most_is_a_rule():
    assert Until(most=1).decide(1, 1) == "exhausted"


def test_one_cell_has_the_whole_level_and_each_of_several_its_share():
    rule = Until(0.4, 0.8, 0.04, 0.02, 7)
    assert rule.shared(0) == rule.shared(1) == rule
    assert rule.shared(4) == Until(0.4, 0.8, 0.01, 0.005, 7)


def test_each_level_bounds_its_own_error():
    """A good word takes 10 passes in a row at 0.001, a bad one 5 failures; at 0.2 three passes, and one."""
    strict, loose = Until(alpha=0.001, beta=0.2), Until(alpha=0.2, beta=0.001)
    assert [strict.decide(11, 11), strict.decide(12, 12), strict.decide(0, 1)] == ["open", "good", "bad"]
    assert [loose.decide(2, 2), loose.decide(3, 3)] == ["open", "good"]
    assert [loose.decide(0, 3), loose.decide(0, 4), loose.decide(0, 5)] == ["open", "open", "bad"]


def test_evidence_at_its_bound_refutes():
    evidence = _core.ln_evidence(0, 5, 0.5)
    assert -log(exp(-evidence)) == evidence
    assert ours.evidence_against(0, 5, 0.5, exp(-evidence))
    assert not ours.evidence_against(0, 5, 0.5, exp(-evidence) * 0.999)


def test_a_family_is_judged_by_its_adjusted_p_values_and_not_by_its_intervals():
    """0.041 stays below the level beside 0.0004 by Holm, and is above half of it."""
    found = compare_all([((9, 10), (1, 10)), ((8, 10), (3, 10))])
    assert [one.verdict for one in found] == ["significant", "significant"]
    assert found[1].p_value == compare((8, 10), (3, 10)).p_value > 0.025


def test_a_large_difference_of_large_samples_is_shown_in_a_family_too():
    found = compare_all([((1900, 2000), (1500, 2000)), ((1000, 2000), (1000, 2000))])
    assert [(one.p_value, one.verdict) for one in found] == [(None, "significant"), (None, "not significant")]


def test_one_comparison_of_several_is_made_at_the_confidence_asked_for():
    assert compare_all([((9, 10), (4, 10))], 0.99) == (compare((9, 10), (4, 10), 0.99),)


def test_one_invocation_finds_no_lower_rate():
    assert findable(1.0, 1) == 0.0
