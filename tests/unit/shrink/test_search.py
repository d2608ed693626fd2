from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.bench import shrink as bench

from faultwire.shrink.search import Candidate, Search


def run(search: Search, fails: object, most: int = 300) -> list[Candidate]:
    """Every candidate that was asked for; `fails` says what each comes to."""
    asked: list[Candidate] = []
    while (candidate := search.candidate()) is not None and len(asked) < most:
        asked.append(candidate)
        search.record(candidate, fails(candidate))  # type: ignore[operator]
    return asked


@pytest.mark.parametrize("culprits", [{5}, {0, 11}, {3, 4, 9}, set(range(12))])
def test_a_failure_that_always_comes_is_found(culprits: set[int]) -> None:
    search = Search(12)
    run(search, lambda candidate: culprits <= candidate)
    assert (search.state, search.smallest) == ("found", culprits)
    assert search.untestable == set()


@pytest.mark.by_day("0.7")
@pytest.mark.parametrize("rate", bench.RATES)
def test_planted_causes_are_found_within_the_budget(rate: float) -> None:
    found = bench.measured("shrink", rate, 96, seed=2)
    assert found.exact >= bench.TARGETS.get(rate, bench.TARGET)
    assert found.most <= bench.LIMITS.get(rate, bench.LIMIT)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize("rate", bench.RATES)
def test_planted_causes_of_other_seeds_are_found(rate: float, seed: int) -> None:
    assert bench.measured("shrink", rate, 480, seed).exact >= bench.TARGETS.get(rate, bench.TARGET)


@pytest.mark.parametrize("way", ["ddmin", "one by one"])
def test_the_baselines_are_right_where_the_failure_always_comes(way: str) -> None:
    for case in range(6):
        agent = bench.Agent.planted(case, 24, 2, 1.0, 500)
        assert bench.WAYS[way](agent) == agent.culprits


def test_the_same_outcomes_lead_to_the_same_questions() -> None:
    def asked() -> list[Candidate]:
        return run(Search(24, seed=3), bench.Agent.planted(1, 24, 2, 0.7, 300).fails)

    assert asked() == asked()
    assert asked() != run(Search(24, seed=4), bench.Agent.planted(1, 24, 2, 0.7, 300).fails)


def test_a_run_that_never_fails_is_not_reduced() -> None:
    search = Search(8)
    asked = run(search, lambda _: False)
    assert search.state == "not_reproduced"
    assert set(asked) == {frozenset(range(8))}
    assert 10 <= len(asked) <= 20


def test_a_failure_without_any_fault_has_no_cause_among_them() -> None:
    search = Search(8)
    asked = run(search, lambda _: True)
    assert (search.state, search.smallest) == ("no_cause", frozenset())
    assert len(asked) <= 6


def test_failures_without_the_cause_are_not_taken_for_it() -> None:
    """One run in twenty fails whatever it holds."""
    exact = 0
    for case in range(40):
        agent = bench.Agent.planted(case, 16, 2, 0.9, 400)
        noise = bench.Agent.planted(1000 + case, 1, 0, 0.05, 400)
        search = Search(16, seed=case, noise=0.05)
        run(search, lambda one, a=agent, n=noise: a.fails(one) | n.fails(one), most=390)
        exact += search.smallest == agent.culprits
    assert exact >= 37, exact


def test_what_cannot_be_judged_stays() -> None:
    """Without element 2 no run can be judged; it is kept and named."""
    search = Search(6)
    run(search, lambda candidate: None if candidate and 2 not in candidate else {4} <= candidate)
    assert search.state == "found"
    assert search.smallest == {2, 4}
    assert search.untestable == {2}


def test_a_whole_set_that_cannot_be_judged_ends_the_search() -> None:
    search = Search(6)
    assert len(run(search, lambda _: None)) == 2
    assert search.state == "not_reproduced"


def test_a_failure_by_bad_luck_is_taken_back() -> None:
    """The half without the culprit fails once, and never again."""
    search, seen = Search(8, seed=1), []

    def fails(candidate: Candidate) -> bool:
        if {6} <= candidate:
            return True
        seen.append(candidate)
        return bool(candidate) and sum(map(bool, seen)) == 1

    run(search, fails)
    assert any(seen), "the culprit was left out at least once"
    assert search.smallest == {6}


def test_what_is_known_to_be_needed_is_counted() -> None:
    search = Search(64)
    assert search.needed() == 0
    run(search, lambda candidate: {5} <= candidate)
    assert search.smallest == {5}
    assert search.needed() == 1
    assert 0.5 < search.rate < 1


def exactly(search: Search, fails: Callable[[Candidate], bool], other_at: int = 0) -> list[Candidate]:
    """Runs of an agent that is the same each time, but for its run number `other_at`."""
    asked: list[Candidate] = []
    while (candidate := search.candidate()) is not None:
        asked.append(candidate)
        assert len(asked) < 500, "it does not end"
        odd = len(asked) == other_at
        search.record(candidate, fails(candidate) != odd, f"{sorted(candidate)}{' and more' if odd else ''}")
    return asked


@pytest.mark.parametrize("culprits", [{5}, {0, 23}, {3, 4, 9}, set(range(24))])
def test_runs_that_repeat_byte_for_byte_are_made_once(culprits: set[int]) -> None:
    once, again = Search(24), Search(24)
    asked = exactly(once, culprits.issubset)
    repeated = run(again, culprits.issubset)
    assert once.smallest == again.smallest == culprits
    assert once.repeats.exact
    assert len(asked) <= len(repeated)
    without = [candidate for candidate in asked if candidate and not culprits <= candidate]
    assert len(without) == len(set(without)), "a set that passed is not tried again"


def test_one_run_that_comes_out_otherwise_brings_all_repeats_back() -> None:
    plain = exactly(Search(24), {3, 9}.issubset)
    for at in range(len(plain) // 2, len(plain) + 1):
        flaky = Search(24)
        exactly(flaky, {3, 9}.issubset, other_at=at)
        assert flaky.state == "found"
        assert flaky.smallest >= {3, 9} or not flaky.repeats.exact
