"""The statistics of the core against scipy and statsmodels, on random cases and at the edges.

References are computed for all cases at once: their libraries take arrays, and a call of theirs costs a
hundred times what one of ours does. Fixed cases with the values of the same libraries are in
`tests/vectors/stats.json`, which the core's own tests read as well.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, special, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from faultwire import _core

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "stats.json").read_text())
CASES = 10_000
NEAR = 1e-9


def cases(seed: int, count: int = CASES, most: int = 200):
    chance = random.Random(seed)
    for _ in range(count):
        total = chance.randint(1, most)
        yield chance.randint(0, total), total, chance.choice((0.8, 0.9, 0.95, 0.99))


def arrays(made) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    passed, total, confidence = zip(*made, strict=True)
    return np.array(passed), np.array(total), np.array(confidence)


def all_near(found, wanted, made) -> None:
    """Every figure within 1e-9; else the case that is farthest off."""
    off = np.abs(np.asarray(found, float) - np.asarray(wanted, float)).reshape(len(made), -1).max(axis=1)
    worst = int(off.argmax())
    assert off[worst] <= NEAR, (made[worst], found[worst])


INTERVALS = {
    "jeffreys": _core.jeffreys_interval,
    "wilson": _core.wilson_interval,
    "clopper_pearson": _core.clopper_pearson_interval,
}


@pytest.mark.parametrize(
    ("method", "theirs"), [("jeffreys", "jeffreys"), ("wilson", "wilson"), ("clopper_pearson", "beta")]
)
def test_intervals_of_a_rate(method: str, theirs: str) -> None:
    made = list(cases(1))
    passed, total, confidence = arrays(made)
    low, high = proportion_confint(passed, total, 1 - confidence, theirs)
    # At the edges ours give 0 and 1 themselves, as Brown, Cai and DasGupta ask for.
    wanted = np.stack([np.where(passed == 0, 0.0, low), np.where(passed == total, 1.0, high)], axis=1)
    all_near([INTERVALS[method](*case) for case in made], wanted, made)


def test_the_difference_of_two_rates() -> None:
    """Newcombe's interval from Wilson's, which statsmodels computes for all cases at once."""
    made = [(c1, n1, c2, n2, q) for (c1, n1, q), (c2, n2, _) in zip(cases(2), cases(3), strict=True)]
    c1, n1, c2, n2, confidence = (np.array(column) for column in zip(*made, strict=True))
    l1, u1 = proportion_confint(c1, n1, 1 - confidence, "wilson")
    l2, u2 = proportion_confint(c2, n2, 1 - confidence, "wilson")
    p1, p2 = c1 / n1, c2 / n2
    low, high = p1 - p2 - np.hypot(p1 - l1, u2 - p2), p1 - p2 + np.hypot(u1 - p1, p2 - l2)
    found = [_core.newcombe_interval((a, m), (b, n), q) for a, m, b, n, q in made]
    all_near(found, np.stack([low, high], axis=1), made)
    for at in range(0, CASES, 100):  # and the whole of it by statsmodels
        a, m, b, n, q = made[at]
        wanted = confint_proportions_2indep(a, m, b, n, method="newcomb", compare="diff", alpha=1 - q)
        all_near([found[at]], [wanted], [made[at]])


def test_the_paired_difference_of_the_paper() -> None:
    """Newcombe (1998), Table II, method 10: (a) 36, 12, 2, 0, the published limits."""
    low, high = _core.newcombe_paired_interval(36, 12, 2, 0, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.0569, 0.3404)
    low, high = _core.newcombe_paired_interval(0, 0, 0, 0)
    assert (low, high) == (-1.0, 1.0)
    rows = VECTORS["paired"]
    found = [_core.newcombe_paired_interval(*row["table"], row["confidence"]) for row in rows]
    all_near(found, [row["interval"] for row in rows], rows)


def test_pairs_that_changed() -> None:
    """Every pair of counts up to 150, not a sample of them."""
    made = [(first, second) for first in range(151) for second in range(151)]
    first, second = (np.array(column) for column in zip(*made, strict=True))
    wanted = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(first, second), first + second, 0.5))
    wanted[first == second] = 1.0
    all_near([_core.mcnemar(*case) for case in made], wanted, made)


def test_two_independent_samples() -> None:
    """The rejection region by scipy's hypergeometric law, and the supremum searched without ours."""
    for row in VECTORS["boschloo"]:
        found = _core.boschloo_test(tuple(row["first"]), tuple(row["second"]))
        assert abs(found - row["p"]) <= NEAR, row
    for (c1, n1, _), (c2, n2, _) in zip(cases(5, 40, 20), cases(6, 40, 20), strict=True):
        wanted = min(1.0, 2 * min(supremum(c1, n1, c2, n2), supremum(c2, n2, c1, n1)))
        found = _core.boschloo_test((c1, n1), (c2, n2))
        assert abs(found - wanted) <= NEAR, (c1, n1, c2, n2, found, wanted)


def supremum(c1: int, n1: int, c2: int, n2: int) -> float:
    """Boschloo's one-sided p-value: the largest chance, over all common rates, of a table whose Fisher
    p-value is at most the observed one."""
    first, second = np.arange(n1 + 1), np.arange(n2 + 1)
    margins = first[:, None] + second[None, :]
    fisher = stats.hypergeom.sf(first[:, None] - 1, n1 + n2, margins, n1)
    region = fisher <= fisher[c1, c2] * (1 + 1e-7)
    ways = special.comb(n1, first)[:, None] * special.comb(n2, second)[None, :] * region
    weights = np.bincount(margins.ravel(), ways.ravel())

    def chance(rate):
        passed = np.arange(n1 + n2 + 1)
        powers = np.power.outer(rate, passed) * np.power.outer(1 - rate, n1 + n2 - passed)
        return powers @ weights

    grid = np.linspace(0, 1, 2001)
    values = chance(grid)
    best = values.max()
    for at in np.argsort(values)[-4:]:
        ends = grid[max(0, at - 1)], grid[min(2000, at + 1)]
        found = optimize.minimize_scalar(lambda rate: -chance(rate), bounds=ends, options={"xatol": 1e-12})
        best = max(best, -found.fun)
    return min(1.0, float(best))


@pytest.mark.nightly
def test_two_independent_samples_by_scipy() -> None:
    """scipy searches the nuisance rate on a grid of its own, so its supremum may be a little lower."""
    for (c1, n1, _), (c2, n2, _) in zip(cases(5, 40, 20), cases(6, 40, 20), strict=True):
        wanted = stats.boschloo_exact([[c1, c2], [n1 - c1, n2 - c2]], n=256).pvalue
        found = _core.boschloo_test((c1, n1), (c2, n2))
        if math.isnan(wanted):
            assert found == 1.0
        else:
            assert -1e-9 <= found - min(wanted, 1.0) <= 1e-3, (c1, n1, c2, n2, found, wanted)


def test_pass_k() -> None:
    made = list(cases(7))
    passed, total, confidence = arrays(made)
    runs = [random.Random(c * 1000 + n).randint(1, 12) for c, n, _ in made]
    lower = stats.beta.ppf(1 - confidence, np.maximum(passed, 1), total - passed + 1)
    bounds = np.where(passed == 0, 0.0, lower) ** np.array(runs)
    all_near([_core.pass_bound(c, n, k, q) for (c, n, q), k in zip(made, runs, strict=True)], bounds, made)
    for (c, n, _), k in zip(made, runs, strict=True):
        found = _core.pass_hat(c, n, k)
        if k > n:
            assert found is None
        else:
            assert abs(found - math.comb(c, k) / math.comb(n, k)) <= NEAR


def test_many_tests_at_once() -> None:
    chance = random.Random(8)
    for _ in range(60):
        values = [chance.random() ** chance.choice((1, 4)) for _ in range(chance.randint(1, 30))]
        all_near(_core.holm(values), multipletests(values, method="holm")[1], values)
        all_near(_core.benjamini_hochberg(values), multipletests(values, method="fdr_bh")[1], values)


def test_evidence_is_the_mixture_over_jeffreys_prior() -> None:
    made = list(cases(9))
    passed, total, _ = arrays(made)
    rates = np.array([random.Random(c * 7 + n).uniform(0.01, 0.99) for c, n, _ in made])
    wanted = stats.betabinom.logpmf(passed, total, 0.5, 0.5) - stats.binom.logpmf(passed, total, rates)
    found = [_core.ln_evidence(c, n, rate) for (c, n, _), rate in zip(made, rates.tolist(), strict=True)]
    scale = 0.1 * np.maximum(1, np.abs(wanted))  # within 1e-8 of a figure above 1
    all_near(found / scale, wanted / scale, made)


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
    tables = [[(0.0, (0.0, 1.0))]] + [
        [
            (_core.ln_evidence(passed, total, 0.8), _core.wilson_interval(passed, total))
            for passed in range(total + 1)
        ]
        for total in range(1, 201)
    ]
    false, naive = 0, 0
    for _ in range(1_000):
        passed, refuted, looked = 0, False, False
        for total in range(1, 201):
            passed += chance.random() < 0.8
            evidence, (low, high) = tables[total][passed]
            refuted = refuted or evidence >= limit
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
