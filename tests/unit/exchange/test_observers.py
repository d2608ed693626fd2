"""Who listens to a response because later exchanges depend on it."""

from __future__ import annotations

import json

from faultwire import _core, wire
from faultwire.dice import Dice
from faultwire.events import Cut, Exchange, Request, Response, Send
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


def test_a_kept_conversation_is_read_where_results_are_replaced():
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


ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "arguments": "{}"}
DONE = {"type": "response.output_item.done", "output_index": 0, "item": ITEM}
EVENT = b"event: response.output_item.done\ndata: " + json.dumps(DONE).encode() + b"\n\n"
WHOLE = json.dumps({"object": "response", "status": "completed", "output": [ITEM]}).encode()
JSON = Response(200, "OK", HEADERS)


def learned(stage: Observers) -> list[str]:
    return list(stage.state.context.state.tools)


def test_calls_in_what_the_client_gets_are_learned():
    stage = heard("tool_error: {message: x}")
    stage.observe(Send(EVENT, to="server"))
    stage.observe(Cut())
    stage.finished()
    assert learned(stage) == []
    stage = heard("tool_error: {message: x}")
    stage.observe(Send(EVENT))
    stage.finished()
    assert learned(stage) == ["call_1"]


def test_a_whole_answer_is_read_at_its_end():
    stage = heard("tool_error: {message: x}", JSON)
    for at in range(0, len(WHOLE), 50):
        stage.observe(Send(WHOLE[at : at + 50]))
    assert learned(stage) == []
    stage.finished()
    assert learned(stage) == ["call_1"]


def attached(
    fault: str, request: Request, protocol, response: Response = SSE, answer: Response | None = None
):
    context = SessionContext("s", inline(fault), Dice(1, "s"), SessionState())
    stage = Observers(ExchangeState(context, Exchange("s", 1, request, "llm"), protocol))
    stage.state.chain.answer = answer
    assert stage.on_response_head(response) is response
    return stage


def test_nobody_listens_to_what_reveals_nothing():
    responses = wire.protocol("openai_responses")
    for stage in (
        attached("tool_error: {message: x}", KEPT, responses, answer=SSE),
        attached("tool_error: {message: x}", KEPT, wire.protocol("openai_chat")),
        attached("tool_error: {message: x}", KEPT, None),
    ):
        assert (stage.observer, stage.touches, stage.holds) == (None, False, False)
        stage.observe(Send(EVENT))
        stage.finished()
        assert learned(stage) == []


def test_an_agent_s_card_introduces_it_to_the_session():
    card = Request("GET", "http", "a.test", 80, "/.well-known/agent-card.json")
    stage = attached("{agent_down: {}, on: {agent: writer}}", card, None, JSON)
    assert stage.touches
    assert not stage.holds
    stage.observe(Send(b'{"name": "writer", "url": "http://a.test/w"}'))
    stage.finished()
    assert stage.state.context.state.peers.name("http://a.test/w") == "writer"


class Lines(type(wire.protocol("openai_responses"))):
    """A protocol that frames its answers in a way of its own."""

    def splitter(self, request, response):
        return _core.LineSplitter() if request is KEPT else None

    def is_terminal(self, event):
        return event == b"last\n"


def test_a_protocol_states_how_its_answers_are_framed():
    assert not attached("tool_error: {message: x}", KEPT, Lines(), JSON).holds
    assert closes(Lines(), KEPT, JSON, b"one\nlast\n")
    assert not closes(Lines(), KEPT, JSON, b"one\nlast")
    other = Request("POST", "https", "h", 443, "/")
    assert not closes(Lines(), other, JSON, b"one\nlast\n")
