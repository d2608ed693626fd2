"""What an audit prints, and for each sentence a finding with which it does not."""

from __future__ import annotations

import json

from faultwire.audit.compare_runs import Difference
from faultwire.audit.experiment import Finding, Tried
from faultwire.cli._audited_report import ADVICE, as_json, lines

FIRST = Difference("request", 1, 2, "$.messages[0].content", "it differs", "clock", ("7", "9"), "llm")
AGREE = Tried("frozen clock", 4, "agree")
DIFFER = Tried("fixed hashes", 2, "differ")


def text(found: Finding) -> str:
    return "\n".join(lines(found, 42))


def test_the_cause_its_place_and_what_was_tried() -> None:
    said = text(Finding("clock", FIRST, (DIFFER, AGREE), 9, 1.0))
    assert said.splitlines() == [
        "audit: flaky: clock",
        "  call 2: it differs",
        "    $.messages[0].content",
        "      - 7",
        "      + 9",
        "  fixed hashes: 2 runs differ",
        "  frozen clock: 4 runs agree",
        "  9 runs; with nothing fixed, 100% of pairs differed",
        f"  {ADVICE['clock']}",
    ]


def test_runs_that_are_the_same() -> None:
    assert (
        text(Finding(None, runs=5)) == "audit: same: 5 runs with seed 42 made the same calls and exited alike"
    )


def test_by_exclusion_only_where_nothing_made_runs_agree() -> None:
    assert "by exclusion" in text(Finding("random", FIRST, (DIFFER,), 9, 1.0))
    hashes = Tried("fixed hashes", 4, "agree")
    assert "by exclusion" not in text(Finding("random", FIRST, (hashes,), 9, 1.0))


def test_words_for_what_is_around_the_program() -> None:
    fresh = Tried("fresh folder", 4, "agree")
    assert "left something behind" in text(Finding("environment", FIRST, (AGREE,), 9, 0.5))
    assert "keeps count" in text(Finding("environment", FIRST, (DIFFER,), 9, 1.0))
    assert "the answer of a server differs" in text(
        Finding("environment", FIRST, (DIFFER,), 9, 1.0, source=1)
    )
    for words in ("left something behind", "keeps count", "the answer of a server"):
        assert words not in text(Finding("environment", FIRST, (fresh,), 9, 1.0))


def test_changed_since_before_is_not_flaky() -> None:
    said = text(Finding("environment", FIRST, (), 5, 0.0))
    assert said.startswith("audit: changed: environment")
    assert "files are the same" in said
    assert text(Finding("code", FIRST, (), 5, 0.0)).startswith("audit: changed: code")


def test_what_is_missing_where_the_cause_is_unknown() -> None:
    untried = Tried("frozen clock", 0, "untried", "no library")
    found = Finding("unknown", FIRST, (untried,), 9, 1.0, missing=("frozen clock: no library",))
    assert "frozen clock: could not be tried: no library" in text(found)
    assert "unknown without: frozen clock: no library" in text(found)
    assert "unknown without" not in text(Finding("clock", FIRST, (AGREE,), 9, 1.0))
    ruled_out = Tried("fixed order", 0, "differ", "the agent never waits")
    assert "fixed order: ruled out: the agent never waits" in text(
        Finding("clock", FIRST, (ruled_out,), 9, 1.0)
    )


def test_a_second_difference_and_the_source_of_a_value() -> None:
    other = Difference("missing", 2, 0, "", "only the first has it", "code")
    said = text(Finding("model", FIRST, (AGREE,), 9, 1.0, source=1, behind=other))
    assert "the value comes from the answer of exchange 1" in said
    assert "another difference shows:\n  a call is missing: only the first has it" in said
    plain = text(Finding("clock", FIRST, (AGREE,), 9, 1.0))
    assert "comes from" not in plain
    assert "another difference" not in plain


def test_as_json() -> None:
    found = as_json(Finding("clock", FIRST, (AGREE,), 9, 1.0))
    json.dumps(found)
    assert found["first"]["call"] == 2
    assert found["word"] == "flaky"
    assert as_json(Finding(None, runs=5))["word"] is None
