"""What a search prints, and for each sentence a result with which it does not."""

from __future__ import annotations

from collections import Counter

import pytest

from faultwire.cli._explored_report import explain, in_words, lines
from faultwire.errors import FaultError, UsageError
from faultwire.explore.claim import Claim
from faultwire.explore.found import Find
from faultwire.explore.search import Result
from faultwire.explore.space import Call, Point
from faultwire.trials.series import Budget

A, B = Point(Call("GET x/a", 1), "status"), Point(Call("GET x/b", 1), "status")
PAIR = frozenset([A, B])
FIND = Find(PAIR, 2, 2, "the agent exited with 1")
HOLDS = Claim(2, 2, Counter({"run": 2, "together": 1}), ((PAIR, "together"),), True)
OPEN = Claim(2, 2, Counter({"run": 2, "open": 1}), ((PAIR, "open"),), False, "1 set was not run")

BUDGET = Budget(9, 60.0, 2.0)


def text(result: Result, depth: int = 2) -> str:
    return "\n".join(lines(result, depth, "the agent's exit code is not 0"))


def test_a_bounded_claim_names_what_was_left_out() -> None:
    said = text(Result("done", (), 4, HOLDS))
    assert said.splitlines()[0] == (
        "no failure by any 2 of these 2 faults on this conversation: 2 of 3 sets run, 1 excluded"
    )
    assert in_words("together", 1) in said
    assert "status on GET x/a, call 1, status on GET x/b, call 1" in said
    assert said.splitlines()[-1] == "  a run is a failure where the agent's exit code is not 0"
    assert "between which no bytes lead" not in said
    assert "by any one of" in text(Result("done", (), 4, HOLDS), depth=1)


def test_a_claim_about_one_fault_speaks_of_no_other() -> None:
    alone = Claim(2, 1, Counter({"run": 1}), (), True)
    assert text(Result("done", (), 2, alone)).startswith(
        "no failure by the only fault on this conversation: 1 of 1 set run, 0 excluded"
    )


def test_no_claim_where_it_does_not_hold() -> None:
    said = text(Result("budget", (), 4, OPEN))
    assert "no failure by" not in said
    assert "no claim: 2 of 3 sets run, 0 excluded: 1 set was not run" in said


def test_failures_by_cause() -> None:
    said = text(Result("done", (FIND,), 4, HOLDS))
    assert said.splitlines()[:2] == [
        "failure 1: GET x/a, call 1 and GET x/b, call 1",
        "  status with status: failed 2 of 2 runs: the agent exited with 1",
    ]
    assert "no other failure by any 2" in said
    assert "flaky" not in said
    assert "flaky: failed once, and not again: status on GET x/a, call 1" in text(
        Result("done", (), 4, HOLDS, flaky=(frozenset([A]),))
    )


def test_exit_codes() -> None:
    assert explain(Result("done", (), 4, HOLDS), BUDGET, None) == 0
    assert explain(Result("done", (FIND,), 4, HOLDS), BUDGET, None) == 1
    assert explain(Result("budget", (FIND,), 4, OPEN), BUDGET, None) == 1
    assert explain(Result("done", (), 4, OPEN), BUDGET, None) == 3
    assert explain(Result("interrupted", (), 4, OPEN), BUDGET, None) == 130
    for limit, words in (("runs", "max-runs 9`"), ("time", "max-time 60s`"), ("cost", "2 dollars .*")):
        with pytest.raises(FaultError, match=f"{words} ended the search after 4 runs: "):
            explain(Result("budget", (), 4, OPEN), BUDGET, limit)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="fails without any fault: it broke"):
        explain(Result("calm_fails", (), 2, None, "it broke"), BUDGET, None)
    with pytest.raises(FaultError, match="cannot be judged: the tape lacks"):
        explain(Result("undecided", (), 2, None, "the tape lacks answers"), BUDGET, None)
    for reason, hint in (
        ("the tape lacks answers to 1 call", "--mock"),
        ("no traffic came", "faultwire doctor"),
    ):
        with pytest.raises(FaultError) as caught:
            explain(Result("undecided", (), 2, None, reason), BUDGET, None)
        assert hint in (caught.value.hint or "")
        assert ("--mock" in (caught.value.hint or "")) is (hint == "--mock")
