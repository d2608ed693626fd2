from __future__ import annotations

import pytest

from faultwire.events import FaultFired, Recorded, Request
from faultwire.exchange.plan import Decision
from faultwire.profile.load import parse
from faultwire.trials.model import Pin
from faultwire.trials.pins import pinned, pins_of

PROFILE = parse(
    "faults:\n"
    "  - status: {code: 503}\n    trigger: {probability: .5, attempts: first}\n"
    "  - latency: {ms: 5}\n"
    "  - latency: {ms: 7}\n    on: {kind: llm}\n    trigger: {after_calls: 1}\n",
    "three.yaml",
)


def line(entry: str, outcome: str, reason: str, key: str, n: int = 0, attempt: int = 0) -> FaultFired:
    return FaultFired(entry, entry, "response", outcome, reason, key, n, attempt)  # type: ignore[arg-type]


def exchange(number: int, *lines: FaultFired) -> Recorded:
    request = Request("POST", "https", "api.example", 443, "/")
    return Recorded(
        "exec", number, "llm", None, None, None, request, None, None, "complete", None, 0, 0, 1.0, lines
    )


def test_decisions_are_counted_as_the_trigger_counts_them() -> None:
    ledger = [
        exchange(1, line("status", "skipped", "rolled 0.5 or more", "a")),
        exchange(2, line("status", "inapplicable", "the exchange is `tool`, not `llm`", "b")),
        exchange(3, line("status", "fired", "rolled under 0.5", "c")),
        exchange(4, line("status", "fired", "rolled under 0.5", "c", attempt=1)),
        exchange(5, line("status", "skipped", "tool `x` is seen at its `mcp` site in this session", "d")),
        exchange(6, line("status", "fired", "rolled under 0.5", "c", n=1)),
    ]
    assert [(pin.call, pin.exchange) for pin in pins_of(ledger)] == [(2, 3), (3, 6)]


def test_a_decision_without_chance_names_its_call() -> None:
    ledger = [exchange(4, line("latency#2", "fired", "call 7 matches", "a"))]
    assert pins_of(ledger) == (Pin("latency#2", 7),)


def test_what_was_planted_before_is_no_decision() -> None:
    again = [exchange(2, line("status", "reapplied", "as in #1", "a"), line("status", "returned", "", "a"))]
    assert pins_of(again) == ()


def test_only_pinned_decisions_are_left_and_names_stay() -> None:
    made = pinned(PROFILE, [Pin("latency#2", 4), Pin("status", 3), Pin("latency#2", 2)])
    assert [(entry.id, entry.trigger.calls) for entry in made.entries] == [
        ("status", (3,)),
        ("latency#2", (2, 4)),
    ]
    status, latency = made.entries
    assert status.trigger.attempts == "first"
    assert status.trigger.probability is None
    assert (latency.trigger.after_calls, latency.on.kind, latency.fault.ms) == (None, "llm", 7)
    assert pinned(PROFILE, []).entries == ()


def test_a_pin_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no entry `reset`"):
        pinned(PROFILE, [Pin("reset", 1)])


def test_the_reasons_are_those_of_decisions() -> None:
    """`pins_of` reads them; it must notice if they are worded otherwise."""
    import inspect

    from faultwire.exchange import plan, trigger

    text = inspect.getsource(plan) + inspect.getsource(trigger)
    for words in ('f"call {call} matches"', 'f"tool `{tool}` is seen', '"the fault is for another exchange"'):
        assert words in text
    assert Decision.__slots__
