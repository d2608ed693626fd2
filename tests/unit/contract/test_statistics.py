from math import isclose

import pytest
from scipy import stats

from faultwire import dice
from faultwire.contract.statistics import (
    Until,
    compare,
    compare_all,
    evidence_against,
    findable,
    is_flaky,
    needed,
    rate,
    running_interval,
    streak,
    suspects,
)
from faultwire.errors import UsageError


@pytest.mark.parametrize(("method", "name"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
def test_intervals_agree_with_scipy(method, name):
    found = rate(7, 10, method)
    expected = stats.binomtest(7, 10).proportion_ci(0.95, name)
    assert (found.method, found.value) == (method, 0.7)
    assert isclose(found.low, expected.low, abs_tol=1e-9)
    assert isclose(found.high, expected.high, abs_tol=1e-9)


def test_six_of_six_is_no_certainty():
    found = rate(6, 6)
    assert (found.method, found.high) == ("jeffreys", 1.0)
    assert isclose(found.low, stats.beta.ppf(0.025, 6.5, 0.5), abs_tol=1e-9)
    assert rate(0, 0).value is None


@pytest.mark.parametrize("counts", [(-1, 2), (3, 2)])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(ValueError, match=r".+"):
        rate(*counts)


def test_passing_k_times_in_a_row():
    found = streak(8, 10, 3)
    assert isclose(found.value, (8 * 7 * 6) / (10 * 9 * 8))
    assert isclose(found.at_least, stats.binomtest(8, 10, alternative="greater").proportion_ci(0.95).low ** 3)
    assert streak(2, 2, 3).value is None


def test_the_same_subjects_are_compared_in_pairs():
    before = {("p", n): True for n in range(12)}
    now = {("p", n): n >= 8 for n in range(12)}
    found = compare(now, before)
    assert (found.test, found.verdict, found.pairs) == ("mcnemar", "significant", 12)
    assert isclose(found.p_value, stats.binomtest(0, 8).pvalue)
    assert found.low < found.difference == -8 / 12 < found.high < 0


def test_other_subjects_are_independent():
    found = compare(dict.fromkeys(range(10), True), {-n: False for n in range(1, 11)})
    assert (found.test, found.verdict, found.pairs, found.difference) == ("boschloo", "significant", 0, 1.0)
    one_sided = stats.boschloo_exact([[10, 0], [0, 10]], alternative="greater").pvalue
    assert found.p_value <= 2 * one_sided + 1e-6


def test_a_small_difference_is_not_shown():
    assert compare((5, 6), (6, 6)).verdict == "not significant"
    assert compare((0, 0), (6, 6)).difference is None
    assert compare((0, 0), (6, 6)).test == "none"


def test_large_samples_are_judged_by_their_interval():
    assert compare((1900, 2000), (1500, 2000)).verdict == "significant"
    assert compare((1500, 2000), (1505, 2000)).verdict == "not significant"
    assert compare((1500, 2000), (1505, 2000)).test == "interval"


def test_many_comparisons_at_once_ask_for_more():
    one = compare((9, 10), (3, 10))
    assert one.verdict == "significant"
    many = compare_all([((9, 10), (3, 10)), *[((5, 10), (5, 10))] * 20])
    assert many[0].p_value > one.p_value
    assert (many[0].low, many[0].high, many[0].family) != (one.low, one.high, 1)
    assert many[0].low < one.low < one.high < many[0].high
    assert [found.verdict for found in many] == ["not significant"] * 21
    assert {found.family for found in many} == {21}
    assert compare_all([((0, 0), (1, 1))])[0].p_value is None
    assert compare_all([((9, 10), (3, 10))]) == (one,)


def test_intervals_of_several_comparisons_hold_all_at_once():
    """Each at 1 - 0.05 / m: as wide as the same comparison alone at that confidence."""
    samples = [((9, 10), (3, 10)), ((5, 10), (5, 10)), ((8, 10), (9, 10))]
    for found, (now, before) in zip(compare_all(samples), samples, strict=True):
        alone = compare(now, before, 1 - 0.05 / 3)
        assert (found.low, found.high) == (alone.low, alone.high)


def test_what_was_not_tested_widens_nothing():
    with_none = compare_all([((9, 10), (3, 10)), ((0, 0), (1, 1))])
    assert with_none[0] == compare((9, 10), (3, 10))


def test_large_samples_in_a_family_are_judged_by_their_wider_interval():
    close = ((1960, 2000), (1980, 2000))
    assert compare(*close).verdict == "significant"
    assert compare_all([close, *[((1000, 2000), (1000, 2000))] * 40])[0].verdict == "not significant"


def test_forty_invocations_find_a_drop_of_twenty_points_in_seven_of_ten_runs():
    """Exact, over all outcomes; McNemar on repeats that are no pairs finds it in 51 of 100."""
    total = 40
    chance = {
        (now, before): stats.binom.pmf(now, total, 0.75) * stats.binom.pmf(before, total, 0.95)
        for now in range(18, total + 1)
        for before in range(32, total + 1)
    }
    found = sum(p for (now, before), p in chance.items() if p > 1e-6 and _shown(now, before, total))
    assert found >= 0.70


def _shown(now: int, before: int, total: int) -> bool:
    return compare((now, total), (before, total)).verdict == "significant"


def test_what_can_be_found_is_reported_before_a_run():
    assert needed(0.95, 0.75) == 45
    assert 0.72 < findable(0.95, 40) < 0.76
    assert findable(0.95, needed(0.95, 0.75)) >= 0.75
    assert findable(0.95, needed(0.95, 0.75) - 1) < 0.75
    assert findable(0.5, 1) == 0.0


def test_listings_allow_a_share_of_false_alarms():
    assert suspects([0.001, 0.5, 0.9]) == (True, False, False)
    assert suspects([]) == ()


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [(["pass", "fail"], True), (["pass", "pass"], False), (["pass", "unknown"], False), ([], False)],
)
def test_flaky(verdicts, expected):
    assert is_flaky(verdicts) is expected


def test_until_stops_early_and_at_last():
    rule = Until(most=40)
    assert rule.decide(0, 0) == "open"
    assert rule.decide(20, 20) == "good"
    assert rule.decide(0, 8) == "bad"
    assert rule.decide(30, 40) == "exhausted"
    assert rule.shared(10).alpha == rule.alpha / 10


@pytest.mark.parametrize("bad", [{"bad": 0.9, "good": 0.5}, {"alpha": 0}, {"most": 0}, {"good": 1}])
def test_rules_that_cannot_stop_are_refused(bad):
    with pytest.raises(UsageError, match="expected"):
        Until(**bad)


def test_evidence_and_interval_hold_under_peeking():
    assert evidence_against(0, 20, 0.9)
    assert not evidence_against(18, 20, 0.9)
    low, high = running_interval(18, 20)
    assert low < rate(18, 20).low < 0.9 < high


def alarms(matrices, cells=6, most=60):
    """How many of so many matrices, all of whose cells have the bad rate, get any cell called good."""
    rule = Until(bad=0.5, good=0.9, most=most).shared(cells)
    found = 0
    for matrix in range(matrices):
        found += any(called_good(rule, matrix, cell) for cell in range(cells))
    return found


def called_good(rule, matrix, cell):
    passed = 0
    for run in range(1, rule.most + 1):
        passed += dice.unit(7, f"null/{matrix}", f"cell/{cell}", "run", run) < rule.bad
        said = rule.decide(passed, run)
        if said != "open":
            return said == "good"
    raise AssertionError("the rule has an upper bound")


def test_false_alarms_over_null_matrices():
    assert alarms(60) <= 6


@pytest.mark.nightly
def test_family_wise_false_alarms_stay_below_five_percent():
    # one-sided exact limit: with a true rate of 5 %, more than 22 of 300 has a chance of 3 %
    assert alarms(300) <= 15


def null_comparisons(matrices, cells=8, runs=10):
    """How many of so many matrices, nothing in which changed, have any difference called real."""
    found = 0
    for matrix in range(matrices):
        samples = [
            tuple(
                sum(dice.unit(11, f"m{matrix}", f"c{cell}", side, run) < 0.8 for run in range(runs))
                for side in ("now", "before")
            )
            for cell in range(cells)
        ]
        made = compare_all([((now, runs), (before, runs)) for now, before in samples])
        found += any(one.verdict == "significant" for one in made)
    return found


def test_no_difference_is_found_where_there_is_none():
    assert null_comparisons(60) <= 6


@pytest.mark.nightly
def test_no_difference_is_found_where_there_is_none_in_three_hundred():
    assert null_comparisons(300) <= 15
