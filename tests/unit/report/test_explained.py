"""Each sentence about a failure that was explained or not: where it is true, and where it is not said."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.unit.blame.test_document import ABOUT, EXCHANGES, PARTS, made
from tests.unit.report.hostile import EVERY
from tests.unit.report.test_summary import Page, make as summarised

from faultwire.blame.design import Design
from faultwire.blame.document import document
from faultwire.blame.rates import Coalition
from faultwire.blame.session import Blaming
from faultwire.report import explained, html, junit, markdown, schema, summary
from faultwire.trials.execute import NOT_ON_TAPE
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome
from faultwire.trials.series import Budget

ROW: dict[str, Any] = {
    "phase": "contract", "invariant": "says_391", "severity": "high", "scenario": "stream_chaos",
    "invocation": "stream_chaos/p1/r1", "invocations": ["stream_chaos/p1/r1"], "also": 0, "runs": 18,
    "conclusion": "#2 makes the failure: cut_stream on its call 1", "blamed": ["cut_stream on its call 1"],
    "page": "blame-1.html", "data": "blame-1.json",
}  # fmt: skip
NOT = ROW | {"page": None, "data": None, "runs": 0, "conclusion": explained.why_not("no-fault"), "blamed": []}


def found(path: Path, answer: Any, budget: int = 500) -> dict[str, Any]:
    """The document of a search in which `answer` says of parts whether a run fails."""

    def attempt(coalition: Coalition) -> Outcome:
        said = answer(coalition)
        return Outcome(said, reason="" if said is not None else f"{NOT_ON_TAPE} to 1 call")

    journal = Journal.open(path / "state.jsonl", "about", "blame")
    search = Blaming(PARTS, attempt, journal, Budget(budget), Design(3))
    search.run()
    return document(search, ABOUT, EXCHANGES, str)


def test_a_cause_is_named_with_its_fault(tmp_path: Path) -> None:
    words = explained.found_words(made(tmp_path, frozenset({1})))
    assert words == "#3 makes the failure: status on its call 3 ***"


def test_more_than_three_are_counted(tmp_path: Path) -> None:
    one = made(tmp_path, frozenset({1}))
    many = one | {"parts": one["parts"] * 2, "blamed": [0, 1, 2, 3]}
    assert explained.found_words(many).endswith("*** and 1 more")
    assert " more" not in explained.found_words(one | {"blamed": [0, 1, 2]})


def test_a_failure_that_does_not_come_back_is_not_explained(tmp_path: Path) -> None:
    words = explained.found_words(found(tmp_path, lambda _: False))
    assert words.startswith("not explained: it failed in 0 of ")
    assert words.endswith(" runs with the same faults")


def test_a_failure_that_comes_without_faults_is_not_explained_by_them(tmp_path: Path) -> None:
    words = explained.found_words(found(tmp_path, lambda _: True))
    assert words.startswith("not explained by its faults: without them ")


def test_a_tape_that_cannot_answer_is_named_with_what_could_answer(tmp_path: Path) -> None:
    one = found(tmp_path, lambda coalition: True if len(coalition) == 3 else None)
    assert explained.found_words(one) == (
        "not explained: its tape cannot tell how the run goes without its faults: needs --mock or --live"
    )


def test_what_could_not_be_judged_is_said_with_its_reason(tmp_path: Path) -> None:
    one = found(tmp_path, lambda coalition: True if len(coalition) == 3 else None)
    other = one | {"needs": None, "undecided": {"the agent did not start": 2}}
    words = explained.found_words(other)
    assert words == "not explained: runs could not be judged: the agent did not start"


def test_where_only_some_runs_were_undecided_the_cause_is_named_all_the_same(tmp_path: Path) -> None:
    one = found(tmp_path, lambda coalition: None if coalition == {2} else 1 in coalition)
    words = explained.found_words(one)
    assert words.startswith("#3 makes the failure: ")
    assert words.endswith("; some runs could not be answered from the tape: needs --mock or --live")


def test_a_budget_that_ended_says_how_many_runs_are_left(tmp_path: Path) -> None:
    rolls = iter(range(1000))
    one = found(tmp_path, lambda coalition: 1 in coalition and next(rolls) % 5 > 0, budget=22)
    assert one["ended"] == "budget"
    left = one["runs_left"]
    assert f"; 22 runs did not decide everything: about {left} more" in explained.found_words(one)
    assert "did not decide" not in explained.found_words(one | {"ended": "found"})


def test_an_interrupted_search_says_so(tmp_path: Path) -> None:
    one = made(tmp_path, frozenset({1}))
    words = explained.found_words(one | {"ended": "interrupted", "runs": 9})
    assert words.endswith("; interrupted after 9 runs")
    assert "interrupted" not in explained.found_words(one)


def test_a_budget_that_was_too_small_says_how_many_runs_are_needed() -> None:
    assert explained.too_small(5, 16, 40) == (
        "not explained: 5 runs were left for it, and fewer than 16 decide nothing; it usually takes about 40"
    )
    assert explained.too_small(0, 16, 40).startswith("not explained: no run was left for it; it usually")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no-fault", "no fault had reached the agent in it"),
        ("over-all", "judged over all invocations"),
        ("recorded", "played as it was recorded"),
        ("broken", "could not be made: no such file"),
        ("interrupted", "interrupted before its search began"),
    ],
)
def test_each_reason_why_there_was_no_search_has_its_own_words(reason: Any, said: str) -> None:
    assert said in explained.why_not(reason, "no such file")
    others = {one for one in ("no-fault", "over-all", "recorded", "broken", "interrupted") if one != reason}
    assert not any(said in explained.why_not(other, "no such file") for other in others)  # type: ignore[arg-type]


def test_only_new_failures_are_taken(make_document: Any) -> None:
    now = make_document()
    (cell,) = explained.failures(now, None)
    assert cell["invariant"] == "says_391"
    assert explained.failures(now, make_document(answer_cut="it is 391")) == [cell], "it had passed"
    assert explained.failures(now, now) == [], "it had failed as well"
    other = make_document(prompt="What is 18 * 23?")
    assert explained.failures(now, other) == [cell], "another prompt says nothing of this one"


def test_a_terminal_shows_the_page_where_there_is_one() -> None:
    assert list(explained.lines([])) == []
    shown = list(explained.lines([ROW, NOT | {"also": 2}]))
    assert shown[0] == "explained with 18 runs:"
    assert "    page   blame-1.html" in shown
    assert sum("page" in one for one in shown) == 1
    assert "  says_391 (high) in stream_chaos/p1/r1 and 2 more cells" in shown
    assert "more cell" not in shown[1]


def test_every_format_leads_to_the_page(make_document: Any) -> None:
    one = make_document() | {"explained": [ROW]}
    assert schema.problems(one) == []
    assert "./blame-1.html" in Page(html.render(one)).links
    assert "([blame-1.html](./blame-1.html), 18 runs)" in markdown.render(one)
    failures = [each.text or "" for each in ET.fromstring(junit.render(one)).iter("failure")]
    assert (
        sum("why: #2 makes the failure" in text and "blame: blame-1.html" in text for text in failures) == 1
    )
    whole = summarised() | {"explained": [ROW]}
    assert "./blame-1.html" in Page(summary.render(whole)).links
    assert "### Why it failed" in summary.markdown(whole)


def test_no_format_links_a_page_that_there_is_not(make_document: Any) -> None:
    for rows in ([NOT], []):
        one = make_document() | {"explained": rows}
        assert schema.problems(one) == []
        for text in (html.render(one), markdown.render(one), junit.render(one)):
            assert "blame-" not in text
            assert ("nothing to leave out" in text) == bool(rows)
    assert "Why it failed" not in markdown.render(make_document())


@pytest.mark.parametrize("page", ["javascript:alert(1)", "../x.html", "blame-1.html/../x", "a](b)"])
def test_a_link_to_anything_else_is_refused(make_document: Any, page: str) -> None:
    assert schema.problems(make_document() | {"explained": [ROW | {"page": page}]})


@pytest.mark.parametrize("text", EVERY)
def test_hostile_text_is_inert(make_document: Any, text: str) -> None:
    row = ROW | {"invariant": text, "invocation": text, "conclusion": text}
    one = make_document() | {"explained": [row]}
    page = Page(html.render(one))
    assert "script" not in page.tags
    assert "img" not in page.tags
    ET.fromstring(junit.render(one))
    (line,) = [each for each in markdown.render(one).splitlines() if "./blame-1.html" in each]
    assert line.startswith("- `")
    assert json.dumps(list(explained.lines([row])))
