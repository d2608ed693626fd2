"""What an audit prints, and for each sentence a finding with which it does not."""

from __future__ import annotations

import json

from faultwire.audit.compare_runs import Difference
from faultwire.audit.finding import Finding, Tried
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
    """An agent that dies at its first call is the same each time, too: the exit code shows it."""
    said = text(Finding(None, runs=5, code=1))
    assert said == "audit: same: 5 runs with seed 42 made the same calls and exited with 1"


def test_nothing_is_called_the_programs_chance_that_no_experiment_showed() -> None:
    said = text(Finding("unknown", FIRST, (DIFFER,), 9, 1.0))
    assert "nothing that was held fixed makes runs agree; not ruled out:" in said
    assert "process ids, load, free memory" in said
    assert "as said above" not in said
    assert "random" not in said
    chance = text(Finding("random", FIRST, (DIFFER, Tried("fixed chance", 5, "agree")), 9, 1.0))
    assert "fixed chance: 5 runs agree" in chance
    assert "ruled out" not in chance


def test_words_for_what_is_around_the_program() -> None:
    fresh = Tried("fresh folder", 4, "agree")
    back = (AGREE, Tried("fresh folder", 3, "differ"))
    left, counter = "earlier runs have left something in it", "as a counter outside of the folder"
    server, passed = "the answer of a server differs", "what made them differ has passed"
    said = {
        left: text(Finding("environment", FIRST, back, 9, 0.5, settled=True)),
        counter: text(Finding("environment", FIRST, (DIFFER,), 9, 1.0)),
        server: text(Finding("environment", FIRST, (DIFFER,), 9, 1.0, source=1)),
        passed: text(Finding("unknown", FIRST, (AGREE, fresh), 9, 0.5, settled=True)),
        "": text(Finding("environment", FIRST, (fresh,), 9, 1.0)),
    }
    for words in (left, counter, server, passed):
        assert [name for name, lines in said.items() if words in lines] == [words]


def test_changed_since_before_is_not_flaky() -> None:
    said = text(Finding("environment", FIRST, (), 5, 0.0))
    assert said.startswith("audit: changed: environment")
    assert "files are the same" in said
    assert text(Finding("code", FIRST, (), 5, 0.0)).startswith("audit: changed: code")


def test_what_is_missing_where_the_cause_is_unknown() -> None:
    untried = Tried("frozen clock", 0, "untried", "no library")
    found = Finding("unknown", FIRST, (untried,), 9, 1.0, missing=("frozen clock: no library",))
    assert "frozen clock: could not be tried: no library" in text(found)
    assert "- what could not be held fixed, as said above" in text(found)
    changed = Finding("unknown", FIRST, (), 5, 0.0, missing=("a hash of the program as it was then",))
    assert "unknown without: a hash of the program as it was then" in text(changed)
    assert "not ruled out" not in text(changed)
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


def test_every_trigger_that_counts_is_named_where_one_may_be_the_reason() -> None:
    from faultwire.cli._determinism import ADVICE as EXAMINED
    from faultwire.profile.entry_model import Trigger

    counts = set(Trigger.model_fields) - {"probability", "no_sdk_retry", "attempts"}
    for told in (ADVICE["fault"], EXAMINED["fault"]):
        assert set(told.partition("(")[2].partition(")")[0].split(", ")) == counts


def test_a_condition_that_was_ruled_out_says_how_and_no_other_does() -> None:
    alone = Tried("fixed order", 1, "differ", "no two calls were under way at once")
    said = text(Finding("unknown", FIRST, (DIFFER, alone), 9, 1.0))
    assert "  fixed order: ruled out: no two calls were under way at once" in said.splitlines()
    assert "  fixed hashes: 2 runs differ" in said.splitlines()
    parallel = Tried("fixed order", 4, "differ")
    assert "ruled out: no" not in text(Finding("unknown", FIRST, (DIFFER, parallel), 9, 1.0))


def test_an_audit_that_was_interrupted_names_no_cause() -> None:
    said = text(Finding("unknown", FIRST, (DIFFER,), 7, 1.0, interrupted=True))
    assert said.splitlines()[0] == "audit: interrupted after 7 runs: the cause is not known yet"
    assert "fixed hashes: 2 runs differ" in said
    assert "not ruled out" not in said
    early = text(Finding(None, runs=1, interrupted=True))
    assert early == "audit: interrupted after 1 run: no two runs differed so far"
    assert as_json(Finding("unknown", FIRST, runs=7, interrupted=True))["interrupted"]
    assert "interrupted" not in text(Finding("unknown", FIRST, (DIFFER,), 7, 1.0))
