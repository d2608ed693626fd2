from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.unit.blame.test_document import ABOUT, EXCHANGES
from tests.unit.blame.test_pieces import answered, apart

from faultwire.blame.design import Design
from faultwire.blame.document import document
from faultwire.blame.inside import Inside
from faultwire.blame.parts import Part, baselines
from faultwire.blame.rates import Coalition
from faultwire.blame.session import Blaming, Splitting
from faultwire.errors import UsageError
from faultwire.report._blame_shape import schema
from faultwire.report.blame import lines, render
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome, Pin
from faultwire.trials.series import Budget

PARTS = [Part(at + 1, "fault", f"status on its call {at + 1}", pin=Pin("status", at + 1)) for at in range(6)]


def blaming(path: Path, attempt: object = None, budget: Budget | None = None) -> Blaming:
    def planted(coalition: Coalition) -> Outcome:
        return Outcome(3 in coalition, 6, 0.01, 2.0, "exited with 1")

    journal = Journal.open(path / "state.jsonl", "about", "blame")
    return Blaming(PARTS, attempt or planted, journal, budget or Budget(500), Design(6))  # type: ignore[arg-type]


def test_it_ends_with_the_cause(tmp_path: Path) -> None:
    search = blaming(tmp_path)
    assert search.run() == "found"
    assert search.design.blamed() == [3]
    assert search.series.runs == search.design.trials
    assert search.series.cost_usd == pytest.approx(0.01 * search.series.runs)


def test_it_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = blaming(tmp_path / "whole")
    whole.run()
    made: list[Coalition] = []

    def dying(coalition: Coalition) -> Outcome:
        if len(made) == 23:
            raise SystemError("killed")
        made.append(coalition)
        return Outcome(3 in coalition)

    first = blaming(tmp_path, dying)
    with pytest.raises(SystemError):
        first.run()
    first.journal.close()

    def rest(coalition: Coalition) -> Outcome:
        made.append(coalition)
        return Outcome(3 in coalition)

    second = blaming(tmp_path, rest)
    assert second.run() == "found"
    assert len(made) == whole.series.runs, "no trial is made twice, and none is left out"


def test_ctrl_c_keeps_what_was_learned(tmp_path: Path) -> None:
    runs: list[int] = []

    def attempt(coalition: Coalition) -> Outcome:
        runs.append(1)
        if len(runs) == 40:
            raise KeyboardInterrupt
        return Outcome(3 in coalition)

    search = blaming(tmp_path, attempt)
    assert search.run() == "interrupted"
    assert search.series.runs == 39
    assert search.design.runs_left() > 0


def test_a_budget_ends_it(tmp_path: Path) -> None:
    search = blaming(tmp_path, budget=Budget(20))
    assert search.run() == "budget"
    assert (search.series.runs, search.limit) == (20, "runs")
    (tmp_path / "timed").mkdir()
    timed = blaming(
        tmp_path / "timed", lambda held: Outcome(3 in held, seconds=2.0), budget=Budget(500, 30.0)
    )
    assert (timed.run(), timed.series.runs, timed.limit) == ("budget", 15, "time")


def test_a_state_of_other_parts_is_refused(tmp_path: Path) -> None:
    blaming(tmp_path).journal.append("0" * 64, Outcome(True))
    again = tmp_path / "again"
    again.mkdir()
    (again / "state.jsonl").write_bytes((tmp_path / "state.jsonl").read_bytes())
    with pytest.raises(UsageError, match="not those of this search"):
        blaming(again).run()


def test_a_coalition_is_known_by_its_parts_and_not_by_their_texts(tmp_path: Path) -> None:
    search = blaming(tmp_path)
    keys = {search.key(frozenset(one)) for one in ([], [0], [1], [0, 1])}
    assert len(keys) == 4
    assert Part(1, "fault", "other words", pin=Pin("status", 1)).identity == PARTS[0].identity


def taking_apart(path: Path, budget: Budget, *, free: bool = True, whole: str = "") -> Blaming:
    """Part 3 makes the failure, and field 5 of its answer does."""
    texts = [json.dumps({f"f{at}": value for at in range(12)}).encode() for value in (1, 2)]
    pieces = apart(answered(texts[0]), answered(texts[1]))

    def attempt(inside: Inside, held: frozenset[int]) -> Outcome:
        assert (inside.part, inside.rest_fails) == (3, True)
        return Outcome(5 in held, 6)

    search = blaming(path, budget=budget)
    search.splitting = Splitting(lambda part: whole or pieces, attempt, free)
    return search


def test_the_answer_of_a_blamed_part_is_taken_apart(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    whole = blaming(alone)
    whole.run()
    search = taking_apart(tmp_path, Budget(whole.series.runs))
    assert search.run() == "found", "runs for its fields come on top"
    assert [one.group for one in search.inside[3].found] == [(5,)]
    found = document(search, ABOUT, EXCHANGES, lambda text: text)
    jsonschema.validate(found, schema())
    (piece,) = found["parts"][3]["inside"]["pieces"]
    assert (piece["names"], piece["kind"], piece["verdict"]) == (["$.f5"], "field", "cause")
    assert [at for at, part in enumerate(found["parts"]) if part["inside"]] == [3]
    assert "  in it $.f5" in list(lines(found))
    assert "$.f5" in render(found)
    search.journal.close()
    again = taking_apart(tmp_path, Budget(whole.series.runs))
    again.splitting = Splitting(again.splitting.pieces, lambda *_: pytest.fail("run again"))  # type: ignore[union-attr,arg-type]
    assert again.run() == "found", "all outcomes are in the journal"


def test_a_budget_that_ends_in_an_answer_keeps_the_part(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    whole = blaming(alone)
    whole.run()
    search = taking_apart(tmp_path, Budget(whole.series.runs + 5), free=False)
    assert search.run() == "budget"
    assert search.design.blamed() == [3]
    assert search.runs_left() > 0
    found = document(search, ABOUT, EXCHANGES, lambda text: text)
    assert found["parts"][3]["inside"]["note"] == "the search in it has not ended"


def test_why_an_answer_is_left_whole_is_said(tmp_path: Path) -> None:
    search = taking_apart(tmp_path, Budget(500), whole="the status is another one (503 instead of 200)")
    assert search.run() == "found"
    found = document(search, ABOUT, EXCHANGES, lambda text: text)
    assert found["parts"][3]["inside"]["pieces"] == []
    assert any("the status is another one" in line for line in lines(found))


def test_simple_rules() -> None:
    assert baselines(PARTS[2:], 9) == {"first step": 1, "last step": 9, "first fault": 3}
    assert baselines([Part(4, "answer", "answer")], 0) == {
        "first step": None, "last step": None, "first fault": None,
    }  # fmt: skip


@pytest.mark.parametrize("repeats", [True, False])
def test_runs_that_repeat_are_made_once_also_by_a_start_that_goes_on(repeats: bool, tmp_path: Path) -> None:
    """The state file keeps what shows that, so that the same runs are asked for. The page says it, and only
    where it is so."""
    count = iter(range(10_000))

    def attempt(coalition: Coalition) -> Outcome:
        bytes_ = "the same" if repeats else f"another {next(count)}"
        return Outcome(3 in coalition, digest=f"{sorted(coalition)} {bytes_}")

    (tmp_path / "whole").mkdir()
    whole = blaming(tmp_path / "whole", attempt)
    whole.run()
    assert (whole.series.runs < 30) is repeats
    first = blaming(tmp_path, attempt, Budget(20))
    assert first.run() == "budget"
    first.journal.close()
    again = blaming(tmp_path, attempt)
    assert (again.run(), again.design.blamed()) == ("found", [3])
    assert again.design.repeats.exact is repeats
    if repeats:
        assert again.series.runs == whole.series.runs
    made = document(again, ABOUT, EXCHANGES, str)
    assert made["repeats"]["exact"] is repeats
    words = "made again were the same, byte for byte: others were made once"
    assert (words in render(made)) is repeats
    jsonschema.validate(made, schema())
