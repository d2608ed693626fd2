"""Tool results in one request, and what the ledger says of them."""

from __future__ import annotations

import json
from dataclasses import replace

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.exchange.stage import ExchangeState
from faultwire.exchange.tool_results import NOT_ANSWERED, ToolResultRewriter
from faultwire.profile.inline import inline

CALL = {"id": "c1", "type": "function", "function": {"name": "calc", "arguments": "{}"}}
TALK = [
    {"role": "user", "content": "six times seven"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "42"},
]
HEADERS = (("content-type", "application/json"),)
SIGNED = (*HEADERS, ("authorization", "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y"))


def told(
    headers: tuple[tuple[str, str], ...] = HEADERS, state: SessionState | None = None
) -> tuple[ToolResultRewriter, Request]:
    body = json.dumps({"model": "m", "messages": TALK}).encode()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", headers, body)
    found = wire.understand(request)
    exchange = Exchange("s", 1, request, "llm", "openai_chat", view=found.view, key=found.key)
    profile = inline("tool_error: {message: on fire, trigger: {max_times: 1}}")
    context = SessionContext("s", profile, Dice(1, "s"), state or SessionState())
    return ToolResultRewriter(ExchangeState(context, exchange, found.protocol)), request


def rewritten(stage: ToolResultRewriter) -> Request:
    stage.on_request()
    return stage.state.request


def test_a_replaced_result_fires_once_a_model_has_answered() -> None:
    story, _ = told()
    assert b"on fire" in (rewritten(story).body or b"")
    (line,) = story.ledger()
    assert (line.outcome, line.reason, line.effect) == ("preempted", NOT_ANSWERED, None)
    story.on_response()
    assert [line.outcome for line in story.ledger()] == ["fired"]


def test_a_result_that_cannot_be_replaced_gives_its_place_back() -> None:
    state = SessionState()
    story, request = told(SIGNED, state)
    assert rewritten(story).body == request.body
    (line,) = story.ledger()
    assert (line.outcome, line.reason, line.effect) == ("inapplicable", wire.SIGNED, None)
    assert state.counts("tool_error") == (1, 0)
    assert state.slot_released("tool_error", Subject(line.key, line.n, line.attempt))
    later, _ = told(SIGNED, state)
    assert rewritten(later).body == request.body
    assert later.ledger() == (), "said once"


def test_a_request_that_nobody_can_read_reveals_nothing() -> None:
    story, request = told()
    blind = ToolResultRewriter(ExchangeState(story.state.context, Exchange("s", 1, request), None))
    assert rewritten(blind) is request
    assert blind.ledger() == ()
    at = story.state
    for other in (
        ExchangeState(at.context, at.exchange, None),
        ExchangeState(at.context, replace(at.exchange, request=replace(request, body=None)), at.protocol),
    ):
        unread = ToolResultRewriter(other)
        assert rewritten(unread) is other.exchange.request
        assert unread.ledger() == ()


def test_two_requests_may_carry_the_same_result_at_once() -> None:
    first, _ = told()
    second, _ = told(state=first.state.context.state)
    for story in (first, second):
        assert b"on fire" in (rewritten(story).body or b"")
    for story in (first, second):
        story.on_response()
    assert first.state.context.state.unread_lines == {}
    assert first.state.context.state.counts("tool_error") == (1, 1)
