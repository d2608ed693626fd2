from __future__ import annotations

import pytest

from faultwire.blame.contrast import Contrast
from faultwire.blame.rates import Counts
from faultwire.dice import unit

SURE = Contrast(Counts(20, 0), Counts(0, 20))


def test_two_runs_decide_where_the_references_are_sure() -> None:
    assert SURE.decide(Counts(2, 0), 0.01, 0.01) == "whole"
    assert SURE.decide(Counts(0, 2), 0.01, 0.01) == "calm"
    assert SURE.decide(Counts(1, 1), 0.01, 0.01) == "open"
    assert SURE.decide(Counts(), 0.01, 0.01) == "open"


def test_unsure_references_ask_for_more() -> None:
    unsure = Contrast(Counts(8, 2), Counts(2, 8))
    assert unsure.evidence(Counts(2, 0)) < SURE.evidence(Counts(2, 0))
    assert unsure.decide(Counts(2, 0), 0.01, 0.01) == "open"


@pytest.mark.parametrize(("rate", "wrong"), [(0.85, "calm"), (0.05, "whole")])
def test_errors_stay_below_those_asked_for(rate: float, wrong: str) -> None:
    """With references that are learned anew each time, and looked at after every run."""
    wrongs = 0
    for case in range(600):
        known = {0.85: Counts(), 0.05: Counts()}
        for truth, counts in known.items():
            for run in range(16):
                counts.add(unit(case, "test", str(truth), str(rate), run) < truth)
        test, counts = Contrast(known[0.85], known[0.05]), Counts()
        while counts.runs < 40 and test.decide(counts, 0.05, 0.05) == "open":
            counts.add(unit(case, "test", "arm", str(rate), counts.runs) < rate)
        wrongs += test.decide(counts, 0.05, 0.05) == wrong
    assert wrongs / 600 <= 0.07  # 5 %, and two standard errors
