from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.blame.test_design import needs, run

from faultwire.blame.design import Design
from faultwire.blame.findings import explained, findings, pairs, ranked, shapley
from faultwire.blame.rates import Coalition


def found(rate: Callable[[Coalition], float | None], size: int = 10) -> Design:
    design = Design(size)
    run(design, rate)
    return design


def test_a_single_cause() -> None:
    design = found(needs(4))
    first = ranked(findings(design))
    assert [(one.part, one.verdict) for one in first] == [(4, "cause")]
    assert first[0].blame.covers(0.85)
    assert not first[0].blame.covers(0.0)
    assert first[0].without.runs >= 8
    assert first[0].alone.runs >= 8
    assert [one.verdict for one in findings(design)].count("none") >= 8
    assert shapley(design) == {}
    assert pairs(design) == []


def test_a_pair_shares_the_blame_and_interacts() -> None:
    design = found(needs(2, 7))
    assert {one.part: one.verdict for one in ranked(findings(design))} == {2: "needed", 7: "needed"}
    values = shapley(design)
    assert [values[one].covers(0.425) for one in (2, 7)] == [True, True]
    (pair,) = pairs(design)
    assert (pair.first, pair.second) == (2, 7)
    assert pair.interaction.low > 0
    whole = explained(design)
    assert whole is not None
    assert whole.covers(0.85)


def test_either_of_two_can_stand_for_the_other() -> None:
    design = found(lambda coalition: 0.9 if coalition & {2, 7} else 0.05)
    assert {one.verdict for one in ranked(findings(design))} == {"enough"}
    assert pairs(design)[0].interaction.high < 0


def test_nothing_is_blamed_without_a_difference() -> None:
    design = found(lambda _: 0.0)
    assert ranked(findings(design)) == []
    assert explained(design) is None
    assert all(one.verdict != "none" for one in findings(design)), "nothing was looked at"


def test_what_could_not_be_judged_says_so() -> None:
    design = found(lambda one: None if len(one) == 1 and 5 in one else needs(1)(one))
    by_part = {one.part: one for one in findings(design)}
    assert by_part[1].verdict == "cause"
    assert by_part[5].verdict == "untestable"
    assert by_part[5].alone.undecided == 2


def test_equal_bars_blame_the_earliest_first() -> None:
    design = found(lambda one: float({2, 7} <= one))
    order = [one.part for one in ranked(findings(design))]
    assert order == [2, 7]
    assert findings(design)[2].blame.value == pytest.approx(findings(design)[7].blame.value)
