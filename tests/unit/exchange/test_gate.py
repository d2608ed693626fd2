"""`exchange.gate`: what the core may judge of a profile, and that nothing is counted where it may not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request, RequestView
from faultwire.exchange import gate
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.stage import ExchangeState
from faultwire.faults import _registry
from faultwire.profile.entry_model import Entry, On, Trigger
from faultwire.profile.model import Profile
from faultwire.wire import protocol

REQUEST = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (("X-Team", "blue"),))
CALL = Exchange("s", 1, REQUEST, "llm", "openai_chat", "openai", key="k", view=RequestView("m", stream=False))


def entry(ident: str = "e", fault: str = "latency", on: On | None = None, **trigger: Any) -> Entry:
    settings = {"latency": {"ms": 1}, "status": {"code": 503}, "mcp_error": {"code": 1}}.get(fault, {})
    made = _registry.registry()[fault].model_validate(settings)
    return Entry(id=ident, fault=made, on=on or On(), trigger=Trigger(**trigger))


def at(*entries: Entry, state: SessionState | None = None, exchange: Exchange = CALL) -> ExchangeState:
    context = SessionContext("s", Profile(name="p", entries=entries), Dice(1, "s"), state or SessionState())
    return ExchangeState(context, exchange, protocol("openai_chat"))


def reasons(state: ExchangeState) -> list[str] | None:
    found = gate.wait(state)
    return None if found is None else [line.reason for line in found.ledger()]


def test_entries_that_wait_are_counted_and_have_their_lines_in_order() -> None:
    first = at(entry("a", after_calls=1), entry("b", after_calls=2))
    assert reasons(first) == ["call 1 of the first 1 passes", "call 1 of the first 2 passes"]
    counts = first.context.state.counts
    assert (counts("a"), counts("b")) == ((1, 0), (1, 0))


def test_where_one_would_fire_nothing_is_counted() -> None:
    state = at(entry("a", after_calls=1), entry("b"))
    assert reasons(state) is None
    assert state.context.state == SessionState()


def test_a_retry_is_decided_by_the_stages() -> None:
    assert reasons(at(entry(after_calls=1), exchange=replace(CALL, attempt=1))) is None


def test_a_fault_that_cannot_act_has_its_reason_and_has_seen_nothing() -> None:
    state = at(entry("m", "mcp_error"))
    found = gate.wait(state)
    assert found is not None
    (line,) = found.ledger()
    assert (line.outcome, "mcp" in line.reason) == ("inapplicable", True)
    assert state.context.state.counts("m") == (0, 0)
    assert not state.context.state.is_decided(("k", 0))


@pytest.mark.parametrize(("value", "found"), [("blue", 1), ("Blue", 0), ("green", 0)])
def test_names_of_header_fields_are_compared_without_case_and_values_with(value: str, found: int) -> None:
    assert len(reasons(at(entry(on=On(header={"x-team": value}), after_calls=9))) or ()) == found


@pytest.mark.parametrize(
    "one",
    [
        entry(after_calls=1 << 60),
        entry(stages=()),
        entry(on=On(status=200), after_calls=9),
        entry(fault="stale_response", after_calls=9),
    ],
    ids=("a count too large", "no stages", "status", "looks on"),
)
def test_what_the_core_cannot_judge_is_left_to_the_stages(one: Entry) -> None:
    state = at(one)
    assert reasons(state) is None
    assert state.context.state.counts("e") == (0, 0)


def test_a_gate_is_made_once_for_calls_that_look_alike_and_few_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate, "KEPT", 2)
    session, profile = SessionState(), Profile(name="p", entries=(entry(after_calls=99),))
    for number in range(12):
        request = replace(REQUEST, host=f"h{number // 4}")
        exchange = replace(
            CALL, request=request, key=f"k{number}", kind=("llm", "tool", "agent")[number // 4]
        )
        context = SessionContext("s", profile, Dice(1, "s"), session)
        assert gate.wait(ExchangeState(context, exchange, protocol("openai_chat"))) is not None
        assert len(session.gates) == min(2, 1 + number // 4)
    assert session.counts("e") == (12, 0), "whichever gate they went through"


def test_a_call_whose_judgements_are_kept_is_no_new_one() -> None:
    session = SessionState()
    assert reasons(at(entry(after_calls=9), state=session)) is not None
    assert reasons(at(entry(after_calls=9), state=session)) is None
