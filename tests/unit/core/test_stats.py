"""The statistics of the core against scipy and statsmodels, on random cases and at the edges."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from faultwire import _core

CASES = 10_000
NEAR = 1e-9


def cases(seed: int, count: int = CASES, most: int = 200):
    chance = random.Random(seed)
    for _ in range(count):
        total = chance.randint(1, most)
        yield chance.randint(0, total), total, chance.choice((0.8, 0.9, 0.95, 0.99))


def near(found, wanted) -> bool:
    return all(abs(f - w) <= NEAR for f, w in zip(found, wanted, strict=True))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (_core.jeffreys_interval, "jeffreys"),
        (_core.wilson_interval, "wilson"),
        (_core.clopper_pearson_interval, "beta"),
    ],
)
def test_intervals_of_a_rate(ours, theirs: str) -> None:
    for passed, total, confidence in cases(1):
        low, high = proportion_confint(passed, total, 1 - confidence, theirs)
        # At the edges ours give 0 and 1 themselves, as Brown, Cai and DasGupta ask for.
        wanted = (0.0 if passed == 0 else low, 1.0 if passed == total else high)
        assert near(ours(passed, total, confidence), wanted), (passed, total, confidence)


def test_the_difference_of_two_rates() -> None:
    for (c1, n1, confidence), (c2, n2, _) in zip(cases(2), cases(3), strict=True):
        wanted = confint_proportions_2indep(
            c1, n1, c2, n2, method="newcomb", compare="diff", alpha=1 - confidence
        )
        assert near(_core.newcombe_interval((c1, n1), (c2, n2), confidence), wanted), (c1, n1, c2, n2)


def test_the_paired_difference_of_the_paper() -> None:
    """Newcombe (1998), Table II, method 10: (a) 36, 12, 2, 0, the published limits."""
    low, high = _core.newcombe_paired_interval(36, 12, 2, 0, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.0569, 0.3404)
    low, high = _core.newcombe_paired_interval(0, 0, 0, 0)
    assert (low, high) == (-1.0, 1.0)


def test_pairs_that_changed() -> None:
    chance = random.Random(4)
    for _ in range(2_000):
        first, second = chance.randint(0, 150), chance.randint(0, 150)
        if first + second == 0:
            continue
        wanted = sm_mcnemar([[5, first], [second, 5]], exact=True).pvalue
        assert abs(_core.mcnemar(first, second) - min(wanted, 1.0)) <= NEAR


def test_two_independent_samples() -> None:
    """scipy searches the nuisance rate on a grid of its own, so its supremum may be a little lower."""
    for (c1, n1, _), (c2, n2, _) in zip(cases(5, 40, 20), cases(6, 40, 20), strict=True):
        wanted = stats.boschloo_exact([[c1, c2], [n1 - c1, n2 - c2]], n=256).pvalue
        found = _core.boschloo_test((c1, n1), (c2, n2))
        if math.isnan(wanted):
            assert found == 1.0
        else:
            assert -1e-9 <= found - min(wanted, 1.0) <= 1e-3, (c1, n1, c2, n2, found, wanted)


def test_pass_k() -> None:
    for passed, total, confidence in cases(7):
        k = random.Random(passed * 1000 + total).randint(1, 12)
        found = _core.pass_hat(passed, total, k)
        if k > total:
            assert found is None
        else:
            assert abs(found - math.comb(passed, k) / math.comb(total, k)) <= NEAR
        low = 0.0 if passed == 0 else stats.beta.ppf(1 - confidence, passed, total - passed + 1)
        assert abs(_core.pass_bound(passed, total, k, confidence) - low**k) <= NEAR


def test_many_tests_at_once() -> None:
    chance = random.Random(8)
    for _ in range(60):
        values = [chance.random() ** chance.choice((1, 4)) for _ in range(chance.randint(1, 30))]
        assert near(_core.holm(values), multipletests(values, method="holm")[1])
        assert near(_core.benjamini_hochberg(values), multipletests(values, method="fdr_bh")[1])


def test_evidence_is_the_mixture_over_jeffreys_prior() -> None:
    for passed, total, _ in cases(9):
        rate = random.Random(passed * 7 + total).uniform(0.01, 0.99)
        mixture = stats.betabinom.logpmf(passed, total, 0.5, 0.5)
        wanted = mixture - stats.binom.logpmf(passed, total, rate)
        assert abs(_core.ln_evidence(passed, total, rate) - wanted) <= 1e-8 * max(1, abs(wanted))


def test_the_confidence_sequence_is_what_the_evidence_leaves() -> None:
    for passed, total, confidence in cases(10, 300):
        limit = -math.log(1 - confidence)
        low, high = _core.confidence_sequence(passed, total, confidence)
        assert low <= passed / total <= high
        for edge, outside in ((low, low - 1e-6), (high, high + 1e-6)):
            if 0 < edge < 1:
                assert _core.ln_evidence(passed, total, min(max(outside, 0), 1)) >= limit


def test_peeking_at_every_run_refutes_the_truth_no_more_often_than_promised() -> None:
    """1,000 agents of a known rate, looked at after each of 200 runs; a fixed test fails this."""
    chance = random.Random(11)
    limit = -math.log(0.05)
    false, naive = 0, 0
    for _ in range(1_000):
        passed, refuted, looked = 0, False, False
        for total in range(1, 201):
            passed += chance.random() < 0.8
            refuted = refuted or _core.ln_evidence(passed, total, 0.8) >= limit
            low, high = _core.wilson_interval(passed, total)
            looked = looked or not low <= 0.8 <= high
        false += refuted
        naive += looked
    assert false / 1_000 <= 0.05
    assert naive / 1_000 > 0.15  # the control: intervals that were not made for peeking


def test_walds_test_keeps_its_errors() -> None:
    chance = random.Random(12)
    wrong = {"good": 0, "bad": 0}
    for truth, opposite in ((0.7, "good"), (0.9, "bad")):
        for _ in range(3_000):
            passed = total = 0
            verdict = "open"
            while verdict == "open":
                total += 1
                passed += chance.random() < truth
                verdict = _core.sprt(passed, total, 0.7, 0.9)
            wrong[opposite] += verdict == opposite
    assert wrong["good"] / 3_000 <= 0.06
    assert wrong["bad"] / 3_000 <= 0.06


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.wilson_interval(2, 1),
        lambda: _core.clopper_pearson_interval(1, 2, 1.0),
        lambda: _core.newcombe_interval((1, 2), (3, 2)),
        lambda: _core.pass_hat(1, 2, 0),
        lambda: _core.mcnemar(-1, 0),
        lambda: _core.boschloo_test((1, 2), (1, 1001)),
        lambda: _core.holm([1.5]),
        lambda: _core.benjamini_hochberg([math.nan]),
        lambda: _core.sprt(1, 2, 0.9, 0.8),
        lambda: _core.ln_evidence(1, 2, 1.5),
        lambda: _core.confidence_sequence(3, 2),
    ],
)
def test_nonsense_is_refused(call) -> None:
    with pytest.raises(ValueError, match=r"expected|more than"):
        call()
