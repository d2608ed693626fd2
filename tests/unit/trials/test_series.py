from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome
from faultwire.trials.series import Budget, Limit, OutOfBudget, Series, ended_by, goes_on


def series(path: Path, budget: Budget, command: str = "blame") -> Series:
    return Series(Journal.open(path, "about", command), budget)


def test_outcomes_of_an_earlier_start_are_taken_in_place_of_trials(tmp_path: Path) -> None:
    first = series(tmp_path / "s", Budget())
    first.outcome("k1", lambda: Outcome(True, 3, 0.5, 2.0, "exited with 1"))
    first.outcome("k2", lambda: Outcome(None, 0, 0.0, 1.0, "no traffic", unpriced=2))
    first.journal.close()
    again = series(tmp_path / "s", Budget())
    made: list[str] = []
    for key in ("k1", "k2", "k3"):
        again.outcome(key, lambda key=key: made.append(key) or Outcome(False))  # type: ignore[misc]
    assert made == ["k3"]
    assert (again.runs, again.seconds, again.cost_usd, again.last) == (3, 3.0, 0.5, "exited with 1")
    assert again.undecided == {"no traffic": 1}
    assert again.spent == (0.5, 2)


@pytest.mark.parametrize(
    ("budget", "limit", "words"),
    [
        (Budget(runs=2), "runs", "`--max-runs 2` the same command with `--max-runs 4` goes on"),
        (Budget(seconds=4.0), "time", "`--max-time 4s` the same command goes on for another 4 s"),
        (Budget(cost_usd=1.0), "cost", "the limit of 1 dollars (`--max-cost`) the same command with"),
    ],
)
def test_a_budget_ends_it_before_the_next_trial(
    tmp_path: Path, budget: Budget, limit: Limit, words: str
) -> None:
    one = series(tmp_path / "s", budget)
    for number in range(2):
        one.outcome(str(number), lambda: Outcome(False, 1, 0.5, 2.0))
    with pytest.raises(OutOfBudget) as caught:
        one.outcome("2", lambda: pytest.fail("it was run"))
    assert one.runs == 2
    assert caught.value.limit == limit
    assert words in f"{ended_by(limit, budget)} {goes_on(limit, budget, one.runs)}"


def test_an_answer_without_a_known_price_ends_a_limit_of_cost(tmp_path: Path) -> None:
    budget = Budget(cost_usd=1.0)
    one = series(tmp_path / "s", budget)
    one.outcome("1", lambda: Outcome(False, 1, 0.1, 2.0))
    one.outcome("2", lambda: Outcome(False, 1, 0.1, 2.0, unpriced=1))
    with pytest.raises(OutOfBudget) as caught:
        one.outcome("3", lambda: pytest.fail("it was run"))
    assert caught.value.limit == "price"
    words = f"{ended_by('price', budget)} ended the search; {goes_on('price', budget, 2)}"
    assert words == (
        "an answer without a known price, so that `--max-cost 1` cannot hold, ended the search; without "
        "--max-cost the same command goes on; `faultwire prices update FILE` adds prices, for a search that "
        "begins anew"
    )


def test_without_a_limit_of_the_users_unknown_prices_end_nothing() -> None:
    for budget in (Budget(), Budget(cost_usd=5.0, assumed=True)):
        assert budget.spent(3, 1.0, 0.1, 7) is None
        budget.must_hold("blame", 7)
    Budget(cost_usd=1.0).must_hold("shrink", 0)


def test_a_limit_that_cannot_hold_is_refused_after_the_first_run() -> None:
    with pytest.raises(UsageError) as caught:
        Budget(cost_usd=1.0).must_hold("shrink", 2)
    assert caught.value.code == "shrink.unknown_price"
    assert caught.value.message == (
        "found `--max-cost 1` and 2 answers of models without a known price in the first run, "
        "expected prices of all: the limit could not hold"
    )
    assert caught.value.hint is not None
    assert "`faultwire prices update FILE` adds prices" in caught.value.hint


def test_what_a_limit_of_cost_depends_on_is_stated_at_the_start() -> None:
    assert Budget().condition is None
    assert Budget(cost_usd=1.0).condition == (
        "`--max-cost 1` cannot hold for models without a known price: the first answer of one ends the "
        "search; `faultwire prices update FILE` adds prices"
    )
    assert Budget(cost_usd=5.0, assumed=True).condition == (
        "the limit of 5 dollars cannot hold for models without a known price: their answers are not in it; "
        "`faultwire prices update FILE` adds prices"
    )


def test_a_search_that_goes_on_has_its_time_anew_and_no_more_runs_or_money(tmp_path: Path) -> None:
    def begun(budget: Budget) -> int:
        one, made = series(tmp_path / "s", budget), 0
        try:
            for number in range(20):
                one.outcome(str(number), lambda: Outcome(False, 1, 0.5, 2.0))
                made = one.runs
        except OutOfBudget:
            pass
        finally:
            one.journal.close()
        return made

    assert [begun(Budget(seconds=4.0)) for _ in range(3)] == [2, 4, 6]
    assert begun(Budget(runs=4)) == 6  # what was kept is no new run
    assert begun(Budget(cost_usd=3.0)) == 6
    assert begun(Budget(cost_usd=4.0)) == 8


def test_a_journal_of_other_trials_or_another_command_is_refused(tmp_path: Path) -> None:
    one = series(tmp_path / "s", Budget())
    one.outcome("k1", lambda: Outcome(False))
    one.journal.close()
    other = series(tmp_path / "s", Budget())
    with pytest.raises(UsageError, match="not those of this search"):
        other.outcome("k9", lambda: Outcome(False))
    other.journal.close()
    with pytest.raises(UsageError, match="not a state file of `shrink`"):
        series(tmp_path / "s", Budget(), "shrink")
