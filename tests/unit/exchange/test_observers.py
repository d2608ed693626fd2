"""Who listens to a response because later exchanges depend on it."""

from __future__ import annotations

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Exchange, Request, Response
from faultwire.exchange.observers import Observers, closes
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.stage import ExchangeState
from faultwire.profile.inline import inline
from faultwire.wire.transcript.response import ResponseObserver

HEADERS = (("content-type", "application/json"),)
KEPT = Request(
    "POST", "https", "api.openai.com", 443, "/v1/responses", HEADERS, b'{"model": "m", "input": "hi"}'
)
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))


def heard(fault: str, response: Response = SSE):
    context = SessionContext("s", inline(fault), Dice(1, "s"), SessionState())
    stage = Observers(
        ExchangeState(context, Exchange("s", 1, KEPT, "llm"), wire.protocol("openai_responses"))
    )
    assert stage.on_response_head(response) is response
    return stage


def test_a_kept_conversation_is_heard_where_results_are_replaced():
    found = heard("tool_error: {message: x}")
    assert isinstance(found.observer, ResponseObserver)
    assert found.touches
    assert not found.holds, "a stream is heard as it passes"
    assert heard("tool_error: {message: x}", Response(200, "OK", HEADERS)).holds


def test_where_nothing_depends_on_it_nobody_listens():
    found = heard("latency: {ms: 1}")
    assert (found.observer, found.touches) == (None, False)


def test_the_event_that_closes_a_stream():
    chat = wire.protocol("openai_chat")
    assert closes(chat, KEPT, SSE, b"data: [DONE]\n\n")
    assert not closes(chat, KEPT, SSE, b'data: {"choices": []}\n\n')
    assert not closes(chat, KEPT, Response(200, "OK", HEADERS), b"data: [DONE]\n\n")
    assert not closes(None, KEPT, SSE, b"data: [DONE]\n\n")
    assert not closes(chat, KEPT, None, b"data: [DONE]\n\n")
