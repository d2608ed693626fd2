from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faultwire.events import Delivery, FaultFired, Recorded, Request
from faultwire.exchange import tool_results
from faultwire.report.unfired import (
    LINES,
    MOST,
    NO_EFFECT,
    NO_MATCH,
    NO_MATCH_LEFT,
    NO_TRAFFIC,
    NOT_ANSWERED,
    unfired,
    unfired_lines,
)

ROLLED = "rolled 0.3 or more"
CHANCE = "by chance it was not to act on any call (`probability: 0.3`)"


def line(entry: str, outcome: str, reason: str = "call 1 matches") -> FaultFired:
    return FaultFired(entry, entry, "response", outcome, reason, "k", 0, 0)  # type: ignore[arg-type]


def exchange(*faults: FaultFired, ending: str = "complete") -> Recorded:
    about: dict[str, Any] = {
        "session": "exec", "number": 1, "kind": "llm", "protocol": None, "provider": None, "tool": None,
        "request": Request("POST", "https", "a.example", 443, "/"), "upstream": None, "delivered": None,
        "ending": ending, "error": None, "attempt": 0, "started_ms": 0, "duration_ms": 1.0,
    }  # fmt: skip
    return Recorded(**about, faults=faults)


def test_reasons_are_those_of_the_decisions_in_their_order_and_once() -> None:
    seen = [
        exchange(line("a", "skipped", ROLLED), line("b", "fired")),
        exchange(line("a", "no_effect"), line("b", "skipped", ROLLED)),
        exchange(line("a", "skipped", ROLLED), line("c", "preempted", "`b` ended the exchange first")),
    ]
    assert unfired(("a", "b", "c", "d"), seen) == {
        "a": ["by chance it was not to act on the other calls (`probability: 0.3`)", NO_EFFECT],
        "c": ["`b` ended the exchange first"],
        "d": [NO_MATCH],
    }
    assert unfired(("a",), []) == {"a": [NO_TRAFFIC]}


def test_what_was_refused_before_faults_were_looked_at_is_not_called_unmatched() -> None:
    refused, answered = exchange(ending="refused"), exchange()
    for seen in ([refused], [refused, answered], [answered, refused]):
        assert unfired(("a",), seen) == {
            "a": [f"{NO_MATCH_LEFT}: 1 call to `a.example` was refused before that"]
        }
    assert unfired(("a",), [answered]) == {"a": [NO_MATCH]}
    looked_at = exchange(line("b", "fired"), ending="refused")
    assert unfired(("a",), [looked_at]) == {"a": [NO_MATCH]}


def test_of_many_hosts_to_which_calls_were_refused_few_are_named() -> None:
    refused = exchange(ending="refused")
    seen = [replace(refused, request=replace(refused.request, host=host)) for host in "aabcde"]
    assert unfired(("a",), seen) == {
        "a": [f"{NO_MATCH_LEFT}: 6 calls to `a`, `b`, `c`, … were refused before that"]
    }
    assert unfired(("a",), seen[:4])["a"][0].endswith("4 calls to `a`, `b`, `c` were refused before that")


@pytest.mark.parametrize("outcome", ["fired", "reapplied", "returned"])
def test_an_entry_that_acted_has_no_reason(outcome: str) -> None:
    assert unfired(("a",), [exchange(line("a", "skipped", ROLLED)), exchange(line("a", outcome))]) == {}


def test_a_terminal_has_a_line_for_each_entry_and_few_of_them() -> None:
    seen = [exchange(line("a", "skipped", ROLLED), line("b", "skipped", ROLLED), line("c", "fired"))]
    assert unfired_lines(("a", "b", "c"), seen) == [
        f"`a` never fired: {CHANCE}",
        f"`b` never fired: {CHANCE}",
        "another `--seed` rolls anew",
    ]
    many = [exchange(*(line(f"e{n}", "skipped", f"reason {n}") for n in range(LINES + 5)))]
    lines = unfired_lines((), many)
    assert len(lines) == LINES
    assert lines[-1] == "and 6 other entries, whose reasons are in the report"
    assert len(unfired_lines((), [exchange(*many[0].faults[:LINES])])) == LINES
    assert "other entries" not in unfired_lines((), [exchange(*many[0].faults[:LINES])])[-1]


@pytest.mark.parametrize(
    ("count", "end"), [(3, "reason 2"), (4, "reason 3"), (5, "reason 2; and 2 other reasons")]
)
def test_a_terminal_names_few_reasons(count: int, end: str) -> None:
    seen = [exchange(line("a", "inapplicable", f"reason {n}")) for n in range(count)]
    (only,) = unfired_lines(("a",), seen)
    assert only.endswith(end)
    assert len(unfired(("a",), seen)["a"]) == count
    assert len(unfired(("a",), seen * 9)["a"]) <= MOST


def test_only_what_was_left_to_chance_rolls_anew() -> None:
    (only,) = unfired_lines(("a",), [exchange(line("a", "inapplicable", "the request asks for no stream"))])
    assert only == "`a` never fired: the request asks for no stream"


def test_a_call_that_the_mock_does_not_answer_was_looked_at_before_it_was_refused() -> None:
    seen = [
        replace(exchange(ending="refused"), delivered=Delivery(status, "", (), b"{}"))
        for status in (501, 403)
    ]
    assert unfired(("a",), seen[:1]) == {"a": [NO_MATCH]}
    assert "1 call to `a.example` was refused before that" in unfired(("a",), seen)["a"][0]
    waited = replace(seen[0], faults=(line("a", "preempted", "the mock does not answer for `a.example`"),))
    assert unfired(("a",), [waited]) == {"a": ["the mock does not answer for `a.example`"]}


def test_a_result_that_no_model_read_is_named_with_the_requests_that_carried_it() -> None:
    assert NOT_ANSWERED == tool_results.NOT_ANSWERED
    unread = line("a", "preempted", NOT_ANSWERED)
    got = Delivery(503, "", (), b"")
    seen = [
        replace(exchange(unread, ending="reset"), number=4),
        replace(exchange(unread), number=5, delivered=got),
    ]
    assert unfired_lines(("a",), seen) == [
        f"`a` never fired: {NOT_ANSWERED} (#4 ended as `reset`, #5 got status 503)"
    ]
    assert unfired(("a",), seen) == {"a": [NOT_ANSWERED]}, "numbers of several sessions would be ambiguous"
    many = [replace(exchange(unread, ending="client_aborted"), number=n) for n in range(1, 6)]
    (told,) = unfired_lines(("a",), many)
    assert told.endswith(
        "(#1 ended as `client aborted`, #2 ended as `client aborted`, #3 ended as `client aborted`, …)"
    )
    assert unfired_lines(("a",), [*seen, exchange(line("a", "fired"))]) == []
    other = replace(exchange(line("b", "preempted", NOT_ANSWERED), ending="cut"), number=9)
    told, others = unfired_lines(("a", "b"), [seen[0], other])
    assert told.endswith("(#4 ended as `reset`)")
    assert others.endswith("(#9 ended as `cut`)"), "each entry has its own"
