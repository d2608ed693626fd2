from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwire.blame.design import LOOKS, Design, exact_runs, fewest_runs, usual_runs
from faultwire.blame.rates import Coalition, Counts
from faultwire.dice import unit


def run(design: Design, rate: Callable[[Coalition], float | None]) -> list[Coalition]:
    """Simulate an agent that fails with these chances; None: the run cannot be judged."""
    made: list[Coalition] = []
    while (coalition := design.candidate()) is not None:
        assert len(made) < 5000, "it does not end"
        chance = rate(coalition)
        made.append(coalition)
        design.record(coalition, None if chance is None else unit(7, "test", "run", "", len(made)) < chance)
    return made


def needs(*causes: int) -> Callable[[Coalition], float]:
    return lambda coalition: 0.9 if frozenset(causes) <= coalition else 0.05


def test_a_single_cause_is_necessary_and_sufficient() -> None:
    design = Design(12)
    run(design, needs(4))
    assert (design.state, design.blamed()) == ("found", [4])
    assert design.is_necessary(4)
    assert design.is_sufficient(4)
    assert design.is_necessary(5) is False
    assert design.is_sufficient(5) is False


def test_a_pair_is_necessary_and_not_sufficient() -> None:
    design = Design(12)
    run(design, needs(2, 9))
    assert design.blamed() == [2, 9]
    assert [design.is_sufficient(one) for one in (2, 9)] == [False, False]
    assert design.of(frozenset({2, 9})).runs >= 8, "both together were run"


def test_either_of_two_is_sufficient_and_not_necessary() -> None:
    design = Design(12)
    run(design, lambda coalition: 0.9 if coalition & {2, 9} else 0.05)
    assert design.blamed() == [2, 9]
    assert [design.is_necessary(one) for one in (2, 9)] == [False, False]


def test_many_survivors_are_walked() -> None:
    design = Design(8)
    run(design, lambda coalition: 0.95 if coalition >= {0, 1, 2, 3, 4, 5} else 0.02)
    assert design.blamed() == [0, 1, 2, 3, 4, 5]
    assert design.walks is not None
    assert design.walks.candidate() is None
    assert sum(one.value for one in design.walks.values().values()) == pytest.approx(0.95, abs=0.2)


@pytest.mark.parametrize(
    ("arm", "blames", "clears"), [("sufficiency", "whole", "calm"), ("necessity", "calm", "whole")]
)
def test_all_parts_share_the_error_rate(arm: str, blames: str, clears: str) -> None:
    """Among more parts, more runs are needed to blame one of them; to clear one, no more."""

    def runs(size: int, decided: str) -> int:
        design = Design(size)
        design.counts = {design.whole: Counts(14, 6), design.calm: Counts(2, 18)}
        one = getattr(design, arm)(1)
        while design.decided(one) != decided:
            design.of(one).add(decided == "whole")
        return design.of(one).runs

    assert runs(40, blames) > runs(4, blames)
    assert runs(40, clears) == runs(4, clears)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_few_parts(size: int) -> None:
    design = Design(size)
    run(design, needs(0))
    assert design.blamed() == [0]


@pytest.mark.parametrize(
    ("rate", "state"), [(0.0, "not_reproduced"), (0.05, "not_reproduced"), (0.9, "no_difference")]
)
def test_an_oracle_that_never_changes(rate: float, state: str) -> None:
    design = Design(6)
    assert len(run(design, lambda _: rate)) <= 2 * LOOKS[-1]
    assert (design.state, design.blamed()) == (state, [])


def test_what_cannot_be_judged_is_not_tried_again_and_not_blamed() -> None:
    design = Design(6)
    run(design, lambda coalition: None if 3 not in coalition and coalition else needs(1)(coalition))
    assert design.state == "found"
    assert design.is_untestable(1), "it alone cannot be judged"
    assert design.is_necessary(1), "but all without it can"
    assert 3 not in design.blamed()
    assert design.is_untestable(3)
    assert design.of(design.necessity(3)).tried == 2
    nothing = Design(6)
    run(nothing, lambda coalition: None if not coalition else 0.9)
    assert nothing.state == "undecidable"


def test_the_curve_runs_every_prefix() -> None:
    design = Design(6, curve=True)
    run(design, needs(2))
    assert all(design.of(one).runs >= design.least for one in design.prefixes())
    plain = Design(6)
    run(plain, needs(2))
    assert plain.trials < design.trials


def test_the_same_outcomes_lead_to_the_same_questions() -> None:
    assert run(Design(9), needs(3)) == run(Design(9), needs(3))
    assert run(Design(9, seed=1), needs(3)) != run(Design(9, seed=2), needs(3))


def test_planning_figures() -> None:
    assert fewest_runs(1) < fewest_runs(5) == fewest_runs(50) <= 16
    design = Design(20)
    assert 0.6 <= usual_runs(20) / len(run(design, needs(3))) <= 1.6
    for size in (1, 2, 3, 8):
        assert 0.6 <= usual_runs(size) / len(run(Design(size), needs(0))) <= 1.6, size
    assert design.runs_left() == 0
    with pytest.raises(ValueError, match="no part"):
        Design(0)


def test_parts_are_decided_once_both_of_their_coalitions_are() -> None:
    design = Design(4)
    assert design.parts_decided() == 0
    seen = []
    while (candidate := design.candidate()) is not None:
        design.record(candidate, 2 in candidate)
        seen.append(design.parts_decided())
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 4)
    assert 0 < seen.index(4) < len(seen) - 1  # those that are blamed are run on


def exactly(design: Design, fails: Callable[[Coalition], bool], other_at: int = 0) -> int:
    """Runs of an agent that is the same each time, but for its run number `other_at`."""
    made = 0
    while (coalition := design.candidate()) is not None:
        made += 1
        assert made < 5000, "it does not end"
        odd = made == other_at
        design.record(coalition, fails(coalition) != odd, f"{sorted(coalition)}{' and more' if odd else ''}")
    return made


@pytest.mark.parametrize("causes", [{4}, {2, 9}])
def test_runs_that_repeat_byte_for_byte_are_made_once(causes: set[int]) -> None:
    once, again = Design(12), Design(12)
    made = exactly(once, causes.issubset)
    run(again, lambda coalition: float(causes <= coalition))
    assert once.blamed() == again.blamed() == sorted(causes)
    assert once.repeats.exact
    assert made < again.trials / 3
    if len(causes) == 1:
        assert made == exact_runs(12)
    assert {once.of(one).runs for one in once.arms() if len(one) == 11 and causes < one} == {1}


def test_one_run_that_comes_out_otherwise_brings_all_repeats_back() -> None:
    """Also where that shows only when what was blamed is confirmed."""
    plain = Design(12)
    exactly(plain, {4}.issubset)
    flaky = Design(12)
    made = exactly(flaky, {4}.issubset, other_at=plain.trials)
    assert not flaky.repeats.exact
    assert made > usual_runs(12) / 2
    assert flaky.blamed() == [4]
    assert min(flaky.of(one).runs for one in flaky.arms()) >= flaky.least


def test_outcomes_of_which_no_bytes_are_known_are_repeated_as_ever() -> None:
    design = Design(12)
    run(design, lambda coalition: float(4 in coalition))
    assert not design.repeats.exact
    assert min(design.of(one).runs for one in design.arms()) >= design.least


def test_the_curve_of_runs_that_repeat_takes_one_run_each() -> None:
    design = Design(6, curve=True)
    assert exactly(design, {3}.issubset) <= exact_runs(6, curve=True)
    assert design.runs_left() == 0
