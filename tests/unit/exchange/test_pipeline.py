"""One exchange from head to ledger, with real protocols and real faults, no socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Action, Cut, Request, Reset, Response, Send, Wait, header
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.request_out import OutboundRequest, unpacked, with_body
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import inline, merge, parse

HEADERS = (("content-type", "application/json"), ("accept-encoding", "gzip, br"))
HEAD = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", HEADERS)
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
STREAM = [
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"role":"assistant","content":"one two"},"finish_reason":null}]}\n\n',
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"content":" three four five"},"finish_reason":null}]}\n\n',
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]


def context(*faults: str, profile: str | None = None, seed: int = 1) -> SessionContext:
    made = parse(profile, "test.yaml") if profile else merge([inline(text) for text in faults])
    return SessionContext("s", made, Dice(seed, "s"), SessionState())


def chat(*messages: dict[str, Any], **more: Any) -> bytes:
    said = messages or ({"role": "user", "content": "hi"},)
    return json.dumps({"model": "gpt-4o-mini", "messages": said, **more}).encode()


def sent(actions: list[Action]) -> bytes:
    return b"".join(a.data for a in actions if isinstance(a, Send))


def through(pipeline: ExchangePipeline, body: bytes, response: Response, chunks: list[bytes]) -> list[Action]:
    departure = pipeline.request(body)
    assert departure.answer is None
    pipeline.head(response)
    actions = [action for chunk in chunks for action in pipeline.feed(chunk)]
    return actions + list(pipeline.finish())


def test_an_empty_profile_holds_and_touches_nothing() -> None:
    pipeline = ExchangePipeline(context(profile="name: calm\ndescription: nothing\nfaults: []\n"), HEAD)
    assert not pipeline.needs_request_body
    assert (pipeline.exchange.kind, pipeline.exchange.protocol) == ("other", None), "nobody asks what it is"
    assert (pipeline.touches, pipeline.needs_response_body) == (False, False)
    assert pipeline.request(None).request is pipeline.exchange.request
    assert pipeline.head(SSE) is SSE
    assert not pipeline.touches
    assert list(pipeline.feed(b"abc")) == [Send(b"abc")]
    assert pipeline.ledger() == ()


def test_a_request_is_held_only_where_an_entry_may_match() -> None:
    fault = context("latency: {ms: 1}")
    assert ExchangePipeline(fault, HEAD).needs_request_body
    assert not ExchangePipeline(fault, replace(HEAD, method="GET", path="/v1/models")).needs_request_body
    unknown = replace(HEAD, path="/some/gateway")
    assert ExchangePipeline(fault, unknown).needs_request_body, "the body may show a model request"
    elsewhere = context("latency: {ms: 1, on: {host: other.test}}")
    assert not ExchangePipeline(elsewhere, HEAD).needs_request_body, "its head has shown it"


def test_a_body_that_nobody_asked_for_or_that_was_not_held_decides_nothing() -> None:
    calm = ExchangePipeline(context(), HEAD)
    body = chat()
    assert calm.request(body).request == replace(HEAD, body=body)
    assert calm.exchange.key == ""
    assert calm.exchange.request == replace(HEAD, body=body)
    unheld = ExchangePipeline(context("status: {code: 503}"), HEAD)
    assert unheld.request(None).answer is None
    assert unheld.ledger() == ()


def test_an_answer_replaces_the_call() -> None:
    pipeline = ExchangePipeline(context("status: {code: 503}"), HEAD)
    departure = pipeline.request(chat())
    assert departure.answer is not None
    assert departure.answer.status == 503
    (line,) = pipeline.ledger()
    assert (line.fault, line.outcome) == ("status", "fired")
    assert line.effect


def test_a_cut_stream_ends_after_its_events_and_the_ledger_states_where() -> None:
    pipeline = ExchangePipeline(context("cut_stream: {after_events: 2}"), HEAD)
    actions = through(pipeline, chat(stream=True), SSE, STREAM)
    assert sent(actions) == b"".join(STREAM[:2])
    assert actions[-1] == Cut()
    (line,) = pipeline.ledger()
    assert line.outcome == "fired"
    assert "2" in str(line.effect)


def test_a_fault_whose_moment_never_came_has_not_fired() -> None:
    pipeline = ExchangePipeline(context("reset: {at: {after_bytes: 100000}}"), HEAD)
    actions = through(pipeline, chat(stream=True), SSE, STREAM)
    assert sent(actions) == b"".join(STREAM)
    assert [line.outcome for line in pipeline.ledger()] == ["no_effect"]


def test_a_stream_fault_on_a_whole_answer_states_why_it_did_not_act() -> None:
    pipeline = ExchangePipeline(context("cut_stream: {after_events: 1}"), HEAD)
    whole = Response(200, "OK", (("content-type", "application/json"),))
    assert sent(through(pipeline, chat(), whole, [b"{}"])) == b"{}"
    (line,) = pipeline.ledger()
    assert line.outcome == "inapplicable"
    assert "stream" in line.reason


def test_later_faults_see_what_earlier_ones_deliver() -> None:
    pipeline = ExchangePipeline(context("slow_tokens: {ms: 10}", "cut_stream: {after_events: 1}"), HEAD)
    actions = through(pipeline, chat(stream=True), SSE, STREAM)
    assert [type(a) for a in actions][-1] is Cut
    assert any(isinstance(a, Wait) for a in actions) or pipeline.ledger()[0].outcome != "fired"
    assert sent(actions) == STREAM[0]


def test_a_body_that_must_be_read_is_asked_for_unpacked() -> None:
    touched = ExchangePipeline(context("truncate_response: {max_tokens: 1}"), HEAD).request(chat())
    assert header(touched.request.headers, "accept-encoding") == "identity"
    untouched = ExchangePipeline(context("latency: {ms: 1}"), HEAD).request(chat())
    assert header(untouched.request.headers, "accept-encoding") == "gzip, br"


CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "calc", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "42"}
QUESTION = {"role": "user", "content": "six times seven"}


def test_a_replaced_result_is_replaced_again_in_every_later_request() -> None:
    session = context("tool_error: {message: on fire}")
    first = ExchangePipeline(session, HEAD)
    body = first.request(chat(QUESTION, CALL, RESULT)).request.body
    assert body is not None
    assert b"on fire" in body
    assert b'"42"' not in body
    first.head(SSE)
    assert [(f.outcome, f.subject) for f in first.ledger()] == [("fired", "calc")]

    later = ExchangePipeline(session, HEAD)
    history = (
        QUESTION,
        CALL,
        RESULT,
        {"role": "assistant", "content": "hm"},
        {"role": "user", "content": "?"},
    )
    assert b"on fire" in (later.request(chat(*history)).request.body or b"")
    (line,) = later.ledger()
    assert (line.outcome, line.subject, line.site) == ("reapplied", "calc", "result"), (
        "it is not decided twice"
    )
    assert line.reason == "the conversation goes on: what exchange 1 changed is changed again"
    assert line.key == later.exchange.key


def test_an_old_result_is_left_alone() -> None:
    pipeline = ExchangePipeline(context("tool_error: {message: on fire}"), HEAD)
    history = (
        QUESTION,
        CALL,
        RESULT,
        {"role": "assistant", "content": "42"},
        {"role": "user", "content": "?"},
    )
    body = chat(*history)
    assert pipeline.request(body).request.body == body


def test_the_length_follows_a_rewritten_request() -> None:
    body = chat(QUESTION, CALL, RESULT)
    head = replace(HEAD, headers=(*HEADERS, ("Content-Length", str(len(body)))))
    request = ExchangePipeline(context("tool_error: {message: on fire}"), head).request(body).request
    assert header(request.headers, "content-length") == str(len(request.body or b""))


def test_a_retry_shares_the_decision_of_its_call() -> None:
    profile = "name: once\ndescription: d\nfaults:\n  - status: {code: 500}\n    trigger: {max_times: 1}\n"
    session = context(profile=profile)

    def attempt(count: int, text: str) -> int | None:
        head = replace(HEAD, headers=(*HEADERS, ("x-stainless-retry-count", str(count))))
        answer = ExchangePipeline(session, head).request(chat({"role": "user", "content": text})).answer
        return answer.status if answer else None

    assert [attempt(n, "a") for n in range(3)] == [500, 500, 500], "the whole logical call fails"
    assert attempt(0, "b") is None, "and only that one"


def test_a_malformed_request_goes_on_unchanged() -> None:
    pipeline = ExchangePipeline(
        context("truncate_response: {max_tokens: 1}", "tool_error: {message: x}"), HEAD
    )
    assert pipeline.request(b'{"messages": 7').request.body == b'{"messages": 7'


@pytest.mark.parametrize("status", [200, 503])
def test_an_entry_on_the_status_is_decided_when_the_status_is_there(status: int) -> None:
    profile = (
        "name: late\ndescription: d\nfaults:\n  - cut_stream: {after_events: 1}\n    on: {status: 200}\n"
    )
    pipeline = ExchangePipeline(context(profile=profile), HEAD)
    actions = through(pipeline, chat(stream=True), replace(SSE, status=status), STREAM)
    assert (actions[-1] == Cut()) == (status == 200)
    assert [f.outcome for f in pipeline.ledger()] == (["fired"] if status == 200 else [])


def test_a_fault_that_waits_for_the_status_can_read_the_body() -> None:
    profile = (
        "name: late\ndescription: d\nfaults:\n  - truncate_response: {max_tokens: 1}\n    on: {status: 200}\n"
    )
    request = ExchangePipeline(context(profile=profile), HEAD).request(chat()).request
    assert header(request.headers, "accept-encoding") == "identity"


def test_the_same_call_id_of_another_tool_is_another_result() -> None:
    profile = "name: p\ndescription: d\nfaults:\n  - tool_error: {message: down}\n    on: {tool: search}\n"
    session = context(profile=profile)

    def result_of(tool: str) -> bytes:
        call = {**CALL["tool_calls"][0], "function": {"name": tool, "arguments": "{}"}}
        pipeline = ExchangePipeline(session, HEAD)
        body = pipeline.request(chat(QUESTION, {**CALL, "tool_calls": [call]}, RESULT)).request.body
        pipeline.head(SSE)
        return body or b""

    assert b"down" in result_of("search")
    assert b"down" not in result_of("calc")


def test_a_replaced_result_counts_once_the_model_has_read_it() -> None:
    session = context("tool_error: {message: on fire}", "status: {code: 503}")
    refused = ExchangePipeline(session, HEAD)
    assert refused.request(chat(QUESTION, CALL, RESULT)).answer is not None
    assert [(f.fault, f.outcome) for f in refused.ledger()] == [
        ("tool_error", "preempted"),
        ("status", "fired"),
    ]
    calm = SessionContext("s", context("tool_error: {message: on fire}").profile, Dice(1, "s"), session.state)
    again = ExchangePipeline(calm, HEAD)
    again.request(chat(QUESTION, CALL, RESULT))
    again.head(SSE)
    assert [(f.fault, f.outcome) for f in again.ledger()] == [("tool_error", "fired")]


def test_parallel_results_of_one_tool_are_distinguished() -> None:
    calls = [{**CALL["tool_calls"][0], "id": ""} for _ in range(2)]
    results = [{**RESULT, "tool_call_id": ""}, {**RESULT, "tool_call_id": ""}]
    session = context("tool_error: {message: on fire}")
    pipeline = ExchangePipeline(session, HEAD)
    pipeline.request(chat(QUESTION, {**CALL, "tool_calls": calls}, *results))
    pipeline.head(SSE)
    assert [f.outcome for f in pipeline.ledger()] == ["fired", "fired"]


def test_a_departure_is_settled_by_its_last_action() -> None:
    departure = OutboundRequest(HEAD)
    assert (departure.request, departure.answer) == (HEAD, None)
    answer = Response(503)

    def actions() -> Iterator[Action]:
        yield Wait(1.0)
        departure.settle(HEAD, answer)

    departure.actions = actions()
    assert departure.answer is answer, "asking passes over what is left of the actions"


def test_a_request_with_another_body_has_its_length() -> None:
    head = replace(HEAD, body=b"12", headers=(("content-length", "2"),))
    assert with_body(head, b"12345").headers == (("content-length", "5"),)
    assert with_body(head, head.body or b"") is head
    assert header(unpacked(HEAD).headers, "accept-encoding") == "identity"


# ---------------------------------------------------------------- a client that leaves


def outcomes(pipeline: ExchangePipeline) -> dict[str, str]:
    return {line.fault: line.outcome for line in pipeline.ledger()}


def test_a_fault_that_a_client_did_not_wait_for_does_not_count() -> None:
    session = context("latency: {ms: 5000}", "status: {code: 503}")
    pipeline = ExchangePipeline(session, HEAD)
    departure = pipeline.request(chat())
    assert next(departure.actions) == Wait(5.0)
    pipeline.client_left()
    assert outcomes(pipeline) == {"latency": "fired", "status": "no_effect"}

    again = ExchangePipeline(session, HEAD)
    assert again.request(chat()).answer is not None
    assert again.exchange.attempt == 1, "the same request right after it is its retry"
    assert outcomes(again) == {"latency": "fired", "status": "fired"}


def test_a_cut_behind_a_wait_does_not_fire_before_its_turn() -> None:
    pipeline = ExchangePipeline(context("cut_stream: {after_events: 2}", "slow_tokens: {ms: 1000}"), HEAD)
    pipeline.request(chat(stream=True))
    pipeline.head(SSE)
    actions = pipeline.feed(b"".join(STREAM))
    while not isinstance(next(actions), Wait):
        pass
    assert outcomes(pipeline)["cut_stream"] == "no_effect"
    assert list(actions)[-1] == Cut()
    assert outcomes(pipeline)["cut_stream"] == "fired"


def test_a_deferred_wait_comes_before_the_head() -> None:
    profile = "name: late\ndescription: d\nfaults:\n  - latency: {ms: 250}\n    on: {status: 200}\n"
    pipeline = ExchangePipeline(context(profile=profile), HEAD)
    assert list(pipeline.request(chat()).actions) == []
    assert list(pipeline.pending(SSE)) == [Wait(0.25)]
    assert pipeline.head(SSE) is SSE
    assert not pipeline.touches
    assert [(line.fault, line.outcome) for line in pipeline.ledger()] == [("latency", "fired")]


def test_a_reset_after_the_headers_acts_on_an_answer_of_ours() -> None:
    pipeline = ExchangePipeline(context("reset: {at: after_headers}", "status: {code: 503}"), HEAD)
    answer = pipeline.request(chat()).answer
    assert answer is not None
    assert pipeline.head(answer) == answer
    assert pipeline.touches
    assert list(pipeline.feed(answer.body or b"")) == [Reset()]
    assert outcomes(pipeline) == {"reset": "fired", "status": "fired"}


# ---------------------------------------------------------------- WebSockets

UPGRADE = Request("GET", "https", "socket.test", 443, "/v1/realtime", (("Upgrade", "WebSocket"),))
SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))


def socket(*faults: str) -> ExchangePipeline:
    pipeline = ExchangePipeline(context(*faults), UPGRADE)
    assert pipeline.request(b"").answer is None
    pipeline.head(SWITCH)
    return pipeline


def test_messages_of_a_calm_session_need_not_be_asked_about() -> None:
    pipeline = socket()
    assert not pipeline.touches
    assert list(pipeline.message(b"a", text=True, by="client")) == [Send(b"a", "server", True)]
    assert list(pipeline.message(b"b", text=False, by="server")) == [Send(b"b", "client", False)]


def test_a_stream_fault_acts_on_the_servers_messages() -> None:
    pipeline = socket("cut_stream: {after_events: 1, on: {path: '*'}}")
    assert pipeline.touches
    assert list(pipeline.message(b"up", text=True, by="client")) == [Send(b"up", "server", True)]
    assert list(pipeline.message(b"a", text=True, by="server")) == [Send(b"a", "client", True)]
    assert list(pipeline.message(b"b", text=True, by="server")) == [Cut(clean=False)]
    assert outcomes(pipeline) == {"cut_stream": "fired"}


def test_the_two_directions_overlap() -> None:
    pipeline = socket("stall: {after_events: 0, for_ms: 5, on: {path: '*'}}")
    waiting = pipeline.message(b"a", text=True, by="server")
    assert next(waiting) == Wait(0.005)
    assert list(pipeline.message(b"up", text=True, by="client")) == [Send(b"up", "server", True)]
    assert list(waiting) == [Send(b"a", "client", True)]


def test_an_entry_that_may_have_matched_a_websocket_is_undecidable() -> None:
    pipeline = socket("latency: {ms: 1, on: {kind: llm}}")
    (line,) = pipeline.ledger()
    assert (line.outcome, line.fault) == ("inapplicable", "latency")
    assert "no known protocol" in line.reason
    elsewhere = socket("latency: {ms: 1, on: {kind: llm, host: other.test}}")
    assert elsewhere.ledger() == (), "that one was meant by nobody"


# ---------------------------------------------------------------- the end


def test_trailers_pass_where_no_fault_touches_the_response() -> None:
    trailers = (("grpc-status", "0"),)
    pipeline = ExchangePipeline(context(), HEAD)
    pipeline.request(None)
    pipeline.head(SSE)
    assert pipeline.trailers(trailers) is trailers


def test_the_trailers_of_an_answer_that_a_fault_replaced_go_with_it() -> None:
    trailers = (("grpc-status", "0"),)
    for fault, left in (("status: {code: 503}", ()), ("slow_tokens: {ms: 1}", trailers)):
        session = context(profile=f"name: p\nfaults:\n  - {fault}\n    on: {{status: 200}}\n")
        pipeline = ExchangePipeline(session, HEAD)
        list(pipeline.request(chat(stream=True)).actions)
        pipeline.head(SSE)
        assert pipeline.touches
        assert pipeline.trailers(trailers) == left


def test_nothing_comes_of_an_exchange_that_nobody_looks_at() -> None:
    pipeline = ExchangePipeline(context(), HEAD)
    pipeline.request(None)
    pipeline.head(SSE)
    assert list(pipeline.finish()) == []
    assert pipeline.over() == ()


def test_the_event_that_closes_a_stream_is_known_in_every_session() -> None:
    gateway = replace(HEAD, path="/some/gateway")
    tools = "name: p\ntools: {search: {url: 'https://x.test/*'}}\nfaults: []\n"
    for session, head in (
        (context(), HEAD),
        (context("slow_tokens: {ms: 1}"), gateway),
        (context(profile=tools), HEAD),
    ):
        pipeline = ExchangePipeline(session, head)
        list(pipeline.request(chat(stream=True) if pipeline.needs_request_body else None).actions)
        assert not pipeline.closes(STREAM[-1]), "nothing has come"
        pipeline.head(SSE)
        assert pipeline.closes(STREAM[-2] + STREAM[-1])
        assert not pipeline.closes(STREAM[0])


def test_what_a_profile_names_a_tool_has_no_closing_event_of_a_model() -> None:
    named = "name: p\ntools: {ask: {url: 'https://api.openai.com/*'}}\nfaults: []\n"
    for session, closed in ((context(), True), (context(profile=named), False)):
        pipeline = ExchangePipeline(session, HEAD)
        list(pipeline.request(chat(stream=True)).actions)
        pipeline.head(SSE)
        assert pipeline.closes(STREAM[-1]) is closed


def test_a_protocol_s_own_framing_is_known_at_the_closing_event() -> None:
    path = "/v1beta/models/m:streamGenerateContent"
    head = Request("POST", "https", "generativelanguage.googleapis.com", 443, path, HEADERS)
    pipeline = ExchangePipeline(context(), head)
    pipeline.request(None)
    pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
    element = b'[{"candidates": [{"content": {"parts": [{"text": "x"}]}%s}]}'
    assert pipeline.closes(element % b', "finishReason": "STOP"' + b"]")
    assert not pipeline.closes(element % b"")


def test_a_profile_that_only_names_tools_touches_no_response() -> None:
    profile = "name: p\ntools: {search: {url: 'https://x.test/*'}}\nfaults: []\n"
    pipeline = ExchangePipeline(context(profile=profile), Request("GET", "https", "x.test", 443, "/sse"))
    assert not pipeline.needs_request_body
    pipeline.request(None)
    assert pipeline.head(SSE) is SSE
    assert not pipeline.touches
    assert pipeline.exchange.tool == "search"
    agents = "name: p\nagents: {writer: {url: 'https://w.test/*'}}\nfaults: []\n"
    called = ExchangePipeline(context(profile=agents), Request("GET", "https", "w.test", 443, "/"))
    assert (called.exchange.kind, called.exchange.agent) == ("agent", "writer")


def test_an_entry_on_a_status_is_not_asked_about_an_answer_of_ours() -> None:
    profile = "name: p\nfaults:\n  - status: {code: 503}\n  - latency: {ms: 5}\n    on: {status: 503}\n"
    pipeline = ExchangePipeline(context(profile=profile), HEAD)
    answer = pipeline.request(chat()).answer
    assert answer is not None
    pipeline.head(answer)
    assert outcomes(pipeline) == {"status": "fired"}


def test_a_body_that_must_be_read_is_needed_in_one_piece() -> None:
    whole = Response(200, "OK", (("content-type", "application/json"),))
    for fault, needed in (("truncate_response: {max_tokens: 1}", True), ("slow_tokens: {ms: 1}", False)):
        pipeline = ExchangePipeline(context(fault), HEAD)
        list(pipeline.request(chat()).actions)
        pipeline.head(whole)
        assert pipeline.needs_response_body is needed


def test_what_a_tool_s_answer_plants_is_looked_for_from_then_on() -> None:
    profile = "name: p\ntools: {search: {url: 'https://x.test/*'}}\nfaults:\n  - tool_malicious: {}\n"
    session = context(profile=profile)
    calm = ExchangePipeline(session, HEAD)
    calm.request(chat())
    head = Request("GET", "https", "x.test", 443, "/find")
    pipeline = ExchangePipeline(session, head)
    list(pipeline.request(b"").actions)
    pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
    assert dict(session.state.canaries) == {}
    delivered = sent(list(pipeline.feed(b'{"hits": 3}')))
    ((canary, planted),) = session.state.canaries.items()
    assert canary.encode() in delivered
    assert (planted.entry, planted.fault, planted.number) == ("tool_malicious", "tool_malicious", 2)


def test_calls_of_a_kept_conversation_are_known_when_their_results_come() -> None:
    session = context("tool_error: {message: x}")
    head = replace(HEAD, path="/v1/responses")
    pipeline = ExchangePipeline(session, head)
    list(pipeline.request(b'{"model": "m", "input": "hi"}').actions)
    whole = Response(200, "OK", (("content-type", "application/json"),))
    pipeline.head(whole)
    assert pipeline.needs_response_body, "the calls in it are read as a whole"
    call = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "search", "arguments": "{}"}
    body = json.dumps({"object": "response", "status": "completed", "output": [call]}).encode()
    assert list(pipeline.feed(body)) == [Send(body)]
    list(pipeline.finish())
    later = ExchangePipeline(session, head)
    result = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
    again = {"model": "m", "previous_response_id": "resp_1", "input": [result]}
    later.request(json.dumps(again).encode())
    assert [line.subject for line in later.ledger()] == ["search"]


def test_frames_of_http2_can_only_be_sent_to_a_client_that_speaks_it() -> None:
    for spoken, outcome in ((False, "inapplicable"), (True, "fired")):
        pipeline = ExchangePipeline(context("goaway: {}"), HEAD)
        taken = pipeline.exchange
        if spoken:
            pipeline.over_http2()
        assert pipeline.exchange == replace(taken, http2=spoken)
        list(pipeline.request(chat()).actions)
        assert pipeline.exchange.http2 is spoken
        assert outcomes(pipeline) == {"goaway": outcome}


ONCE = "name: once\ndescription: d\nfaults:\n  - {fault}\n    trigger: {{max_times: 1}}\n"


def ask(session: SessionContext, text: str, response: Response, chunks: list[bytes]) -> str:
    """One exchange to its end; what became of the only fault."""
    pipeline = ExchangePipeline(session, HEAD)
    departure = pipeline.request(chat({"role": "user", "content": text}, stream=True))
    if departure.answer is None:
        pipeline.head(response)
        for piece in chunks:
            list(pipeline.feed(piece))
        list(pipeline.finish())
    (line,) = pipeline.over()
    assert pipeline.ledger() == (line,)
    return line.outcome


def test_a_fault_that_did_not_fire_does_not_use_up_its_times() -> None:
    session = context(profile=ONCE.format(fault="cut_stream: {after_events: 1}"))
    whole = Response(200, "OK", (("content-type", "application/json"),))
    assert ask(session, "a", whole, [b"{}"]) == "inapplicable"
    assert ask(session, "b", SSE, STREAM) == "fired"
    assert ask(session, "c", SSE, STREAM) == "skipped"


def test_a_client_that_does_not_wait_gives_the_place_back_and_its_retry_has_no_claim() -> None:
    session = context(profile=ONCE.format(fault="stall: {after_events: 1, for_ms: 5}"))
    left = ExchangePipeline(session, HEAD)
    left.request(chat({"role": "user", "content": "a"}, stream=True))
    left.client_left()
    assert [line.outcome for line in left.over()] == ["no_effect"]
    assert ask(session, "b", SSE, STREAM) == "fired"
    assert ask(session, "a", SSE, STREAM) == "skipped", "another call has taken its place"


def test_a_faulted_retry_keeps_its_place_whenever_the_first_attempt_ends() -> None:
    """The proxy may hear of a client's leaving only after its retry has come."""
    session = context(profile=ONCE.format(fault="cut_stream: {after_events: 1}"))
    left, retry = ExchangePipeline(session, HEAD), ExchangePipeline(session, HEAD)
    for pipeline in (left, retry):
        pipeline.request(chat(stream=True))
        left.client_left()
    assert [line.outcome for line in left.over()] == ["no_effect"]
    retry.head(SSE)
    assert list(retry.feed(b"".join(STREAM)))[-1] == Cut()
    assert [line.outcome for line in retry.over()] == ["fired"]
    assert ask(session, "another", SSE, STREAM) == "skipped"


def test_exchanges_under_way_at_once_do_not_share_a_place() -> None:
    session = context(profile=ONCE.format(fault="status: {code: 503}"))
    one, other = ExchangePipeline(session, HEAD), ExchangePipeline(session, HEAD)
    one.request(chat({"role": "user", "content": "a"}))
    assert other.request(chat({"role": "user", "content": "b"})).answer is None


def test_only_a_dialogue_is_decided_on_before_its_end() -> None:
    talk = ExchangePipeline(context(), replace(HEAD, headers=(("content-type", "application/grpc+proto"),)))
    assert talk.decides_on_first_message
    assert not ExchangePipeline(context(), HEAD).decides_on_first_message
    whole = b"\0\0\0\0\3abc"
    assert [talk.ready(whole[:size]) for size in (0, 4, 7, 8)] == [False, False, False, True]
    assert talk.ready(whole + b"\0")
    assert talk.ready(b"\0\0\0\0\0"), "an empty message is one"
