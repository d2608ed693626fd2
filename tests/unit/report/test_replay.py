"""What a replay served and what it did not, in words, as a page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from faultwire.replay.explain_miss import Class
from faultwire.report.replay import SHOWN, diverged, files, lines

ABOUT = {"id": "20260101T000000Z-0a1b2c3d", "command": "exec", "started_at": "2026-01-01T00:00:00+00:00"}
MISS = {
    "exchange": 3,
    "class": "changed prompt",
    "request": "POST https://x/<script>",
    "reason": "it differs from s#1 in `$.a`",
    "differences": [{"path": "$.a", "recorded": "<b>one</b>", "asked": "two\u202e\x1b[31m"}],
    "expected_next": "s#1 POST https://x/",
}
FORK = {"at": "exec#2", "reached": 2, "tail": "live", "onward": 1}


def report(**changes: Any) -> dict[str, Any]:
    base = {"tape": str(Path("t.tape")), "on_miss": "fail", "unverified": False, "recorded": 2, "served": 2}
    nothing = {"answers": 0, "heads": 0, "calls": []}
    base |= {"exact": True, "redacted": nothing, "rebound": 0}
    return {**base, "missed": 0, "misses": [], "left": 0, "leftovers": [], "classes": {}, **changes}


def test_a_replay_without_differences_is_one_line() -> None:
    assert lines(report()) == ["replayed   2 of 2 recorded exchanges from t.tape"]


def test_differences_are_shown_with_both_values() -> None:
    miss = {
        "class": "changed prompt",
        "request": "POST https://x/",
        "reason": "it differs from s#1 in `$.a`",
        "differences": [{"path": "$.a", "recorded": "one", "asked": "two"}],
        "expected_next": "s#1 POST https://x/",
    }
    told = lines(
        report(
            missed=1, misses=[miss], left=1, leftovers=["s#1 POST https://x/"], classes={"changed prompt": 1}
        )
    )
    assert told[1:] == [
        "  diverged: 1 changed prompt",
        "  miss (changed prompt): POST https://x/: it differs from s#1 in `$.a`",
        "    $.a",
        "      - one",
        "      + two",
        "    expected next: s#1 POST https://x/",
        "  not requested: s#1 POST https://x/",
    ]


def test_a_terminal_gets_the_first_of_many() -> None:
    told = lines(report(left=SHOWN + 5, leftovers=[f"s#{n}" for n in range(SHOWN + 5)]))
    assert told[-1] == "  and 5 more in `replay.json`"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"missed": 1}, True),
        ({"left": 1}, True),
        ({"missed": 1, "on_miss": "live"}, False),
        ({"fork": FORK}, False),
        ({"fork": {**FORK, "reached": None}}, True),
        ({"fork": {**FORK, "reached": None}, "on_miss": "live"}, True),
    ],
)
def test_when_a_run_diverged(changes: dict[str, Any], expected: bool) -> None:
    assert diverged(report(**changes)) is expected
    made = json.loads(files(report(**changes), ABOUT)["replay.json"])
    assert (made["verdict"], made["reason"]) == (("fail", "diverged") if expected else ("pass", None))


def test_calls_that_went_live_are_named_by_their_numbers() -> None:
    misses = [{**MISS, "exchange": 2, "differences": []}, {**MISS, "exchange": 5, "differences": []}]
    told = lines(report(missed=3, misses=misses, on_miss="record"))
    assert told[1] == "  3 sent upstream because of --on-miss `record`: #2, #5 and 1 more"


def test_a_fork_is_reported() -> None:
    def told(**changes: Any) -> str:
        return lines(report(fork={**FORK, **changes}))[1]

    assert told() == "  forked at exec#2, here #2; 1 later call went live"
    assert told(onward=3, tail="mock") == "  forked at exec#2, here #2; 3 later calls went to the mock"
    assert told(tail="tape") == "  forked at exec#2, here #2"
    assert told(reached=None) == "  did not reach the fork point exec#2"


def test_the_page_shows_the_difference_escaped() -> None:
    found = report(
        missed=60, misses=[MISS], left=2, leftovers=["s#2 POST https://x/"], classes={"changed prompt": 60}
    )
    page = files({**found, "fork": FORK}, ABOUT)["replay.html"]
    assert page.isascii() or "\x1b" not in page
    for text in ("60 × changed prompt", "- &lt;b&gt;one&lt;/b&gt;", "forked at", "and 59 more", "and 1 more"):
        assert text in page
    for text in ("<script>", "<b>one", "\u202e", "\x1b", "<link", "src="):
        assert text not in page


def test_the_json_holds_what_the_engine_said() -> None:
    found = report(missed=1, misses=[MISS], classes={"changed prompt": 1})
    made = json.loads(files(found, ABOUT)["replay.json"])
    assert made["schema_version"] == "1"
    assert made["run"] == ABOUT
    assert {name: made[name] for name in found} == found


REDACTED = [
    {"call": "s#1 POST https://x/", "body": ["$.arguments"], "headers": ["set-cookie"]},
    {"call": "s#2 POST https://x/", "body": [], "headers": ["set-cookie"]},
]


def test_answers_with_redacted_values_are_named() -> None:
    found = {"answers": 1, "heads": 1, "calls": REDACTED}
    about = report(exact=False, redacted=found)
    assert lines(about)[1:] == [
        "  not exact: 1 answer differs from what was delivered live: redacted values are not on the tape",
        "    s#1 POST https://x/: $.arguments",
        "  1 other answer differs in redacted header fields only: set-cookie",
    ]
    page = files(about, ABOUT)["replay.html"]
    assert "s#1 POST https://x/: $.arguments" in page
    assert "as recorded" not in page
    assert "as recorded" in files(report(), ABOUT)["replay.html"]


def test_answers_that_differ_in_header_fields_only_are_counted_as_such() -> None:
    found = {"answers": 0, "heads": 2, "calls": REDACTED[1:]}
    assert lines(report(exact=False, redacted=found))[1:] == [
        "  exact but for redacted header fields: set-cookie in 2 answers"
    ]
    one = {"answers": 0, "heads": 1, "calls": REDACTED[1:]}
    assert lines(report(exact=False, redacted=one))[1:] == [
        "  exact but for redacted header fields: set-cookie in 1 answer"
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_differences_of_a_class_are_counted_as_one_says_it(count: int) -> None:
    classes = dict.fromkeys(get_args(Class), count)
    (found,) = (one for one in lines(report(missed=9 * count, classes=classes)) if "diverged" in one)
    said = found.removeprefix("  diverged: ").split(", ")
    expected = {
        1: "1 call in another order|1 call with changed tool arguments|1 changed prompt|1 missing call|"
        "1 model or SDK change|1 new call|1 other answer|1 other request sent on|1 volatile value",
        2: "2 calls in another order|2 calls with changed tool arguments|2 changed prompts|2 missing calls|"
        "2 model or SDK changes|2 new calls|2 other answers|2 other requests sent on|2 volatile values",
    }
    assert sorted(said) == expected[count].split("|")


@pytest.mark.parametrize(
    "other",
    [
        {"left": 1, "classes": {"missing call": 1}},
        {"missed": 1, "classes": {"new call": 1}},
        {"served": 0},
        {"rebound": 1},
        {"fork": FORK},
    ],
)
def test_a_replay_that_differs_in_more_is_not_called_exact(other: dict[str, Any]) -> None:
    one = {"answers": 0, "heads": 1, "calls": REDACTED[1:]}
    shown = lines(report(exact=False, redacted=one, **other))
    assert "  1 answer differs in redacted header fields only: set-cookie" in shown
    assert not [line for line in shown if "exact but" in line]


def test_misses_alike_in_a_row_are_one() -> None:
    other = {**MISS, "request": "POST https://y/"}
    each = [{**MISS, "exchange": 1}, {**MISS, "exchange": 2}, other, {**MISS, "exchange": 4}]
    found = lines(report(missed=4, misses=each, classes={"changed prompt": 4}))
    heads = [line.split(":")[0] for line in found if line.startswith("  miss")]
    assert heads == ["  miss (changed prompt) ×2", "  miss (changed prompt)", "  miss (changed prompt)"]


def test_a_terminal_gets_the_first_redacted_answers() -> None:
    calls = [{"call": f"s#{n}", "body": ["body"], "headers": []} for n in range(SHOWN + 2)]
    shown = lines(report(redacted={"answers": 60, "heads": 0, "calls": calls}))
    assert shown[-1] == "    and 50 more in `replay.json`"


LIVE = {"agent": "billing", "calls": 4, "onward": 4, "beside": {"planner": 2}, "played": {"writer": 1}}
TOLD = (
    "  live: `billing`, 4 calls, 4 of them to a model that answered anew",
    "  beside it: planner, 2 calls",
    "  from the tape alone: writer, 1 recorded call",
)


def _of_live(**changes: Any) -> tuple[bool, list[str]]:
    found = {"tape": "t.tape", "on_miss": "fail", "unverified": False, "recorded": 2, "served": 2}
    found |= {"missed": 0, "left": 0, "misses": [], "leftovers": [], "classes": {}, "rebound": 0}
    found |= {"redacted": {"answers": 0, "heads": 0, "calls": []}, "live": {**LIVE, **changes}}
    return diverged(found), lines(found)


def test_who_ran_and_who_was_played_by_the_tape() -> None:
    failed, told = _of_live()
    assert not failed
    assert set(TOLD) <= set(told)
    assert not any("no call that bears its mark" in line for line in told)


def test_a_live_agent_of_which_nothing_was_seen_is_no_pass() -> None:
    failed, told = _of_live(calls=0, onward=0, beside={}, played={})
    assert failed
    assert "  the live agent `billing` made no call that bears its mark" in told
    assert not set(TOLD) & set(told)
    assert "  live: `billing`, 4 calls" in _of_live(onward=0)[1], "no model answered anew"
