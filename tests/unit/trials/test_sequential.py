from __future__ import annotations

import pytest

from faultwire.dice import unit
from faultwire.trials.sequential import MixtureTest, SequentialTest


def test_one_failure_decides_where_there_is_no_noise() -> None:
    test = SequentialTest(rate=0.7)
    assert test.fails_needed == 1
    assert test.decide(1, 0) == "fails"
    assert test.decide(0, test.passes_needed) == "passes"
    assert test.decide(0, test.passes_needed - 1) == "open"


def test_noise_asks_for_more_failures() -> None:
    assert SequentialTest(rate=0.7, noise=0.2).fails_needed == 3
    assert SequentialTest(rate=0.7, noise=0.2).decide(1, 0) == "open"


@pytest.mark.parametrize(("rate", "noise"), [(0.5, 0.05), (0.9, 0.1)])
def test_errors_stay_below_those_asked_for(rate: float, noise: float) -> None:
    test = SequentialTest(rate=rate, noise=noise, alpha=0.05, beta=0.05)
    for truth, wrong in ((rate, "passes"), (noise, "fails")):
        wrongs = sum(_run(test, truth, case) == wrong for case in range(2000))
        assert wrongs / 2000 <= 0.065  # 5 %, and three standard errors


def _run(test: SequentialTest, truth: float, case: int) -> str:
    failed = passed = 0
    while test.decide(failed, passed) == "open":
        if unit(1, str(truth), str(case), "run", failed + passed) < truth:
            failed += 1
        else:
            passed += 1
    return test.decide(failed, passed)


@pytest.mark.parametrize("bad", [{"rate": 0.1, "noise": 0.2}, {"rate": 1.0}, {"rate": 0.5, "alpha": 0.6}])
def test_rates_that_decide_nothing_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="found"):
        SequentialTest(**bad)


def test_a_rate_that_is_not_known_is_learned_from_the_whole_set() -> None:
    surely, seldom = MixtureTest(20, 0), MixtureTest(10, 10)
    assert surely.passes_needed(0.05, 0.01) < seldom.passes_needed(0.05, 0.01)
    assert seldom.decide(1, 0, 0.05, 0.05) == "fails"
    assert seldom.decide(0, 1, 0.05, 0.05) == "open"
    assert MixtureTest(10, 10, noise=0.3).decide(1, 0, 0.05, 0.05) == "open"


def test_with_much_known_it_is_the_test_of_a_known_rate() -> None:
    known, learned = SequentialTest(0.7), MixtureTest(7_000_000, 3_000_000)
    for failed, passed in ((1, 0), (0, 4), (2, 9)):
        assert learned.evidence(failed, passed) == pytest.approx(known.evidence(failed, passed), abs=1e-3)
