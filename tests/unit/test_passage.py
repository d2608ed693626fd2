"""One exchange from head to ledger, with real protocols and real faults, no socket."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Action, Cut, Request, Response, Send, Wait, header
from faultwire.passage import Passage, SessionContext
from faultwire.profile.load import inline, merge, parse
from faultwire.session import SessionState

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


def through(passage: Passage, body: bytes, response: Response, chunks: list[bytes]) -> list[Action]:
    departure = passage.request(body)
    assert departure.answer is None
    passage.head(response)
    actions = [action for chunk in chunks for action in passage.feed(chunk)]
    return actions + passage.finish()


def test_an_empty_profile_holds_and_touches_nothing() -> None:
    passage = Passage(context(profile="name: calm\ndescription: nothing\nfaults: []\n"), HEAD)
    assert not passage.holds_request
    assert passage.request(None).request is passage.exchange.request
    assert passage.head(SSE) is SSE
    assert not passage.touches
    assert passage.feed(b"abc") == [Send(b"abc")]
    assert passage.ledger() == ()


def test_a_request_is_held_only_where_an_entry_may_match() -> None:
    fault = context("latency: {ms: 1}")
    assert Passage(fault, HEAD).holds_request
    assert not Passage(fault, replace(HEAD, method="GET", path="/v1/models")).holds_request
    unknown = replace(HEAD, path="/some/gateway")
    assert Passage(fault, unknown).holds_request, "the body may show a model request"


def test_an_answer_replaces_the_call() -> None:
    passage = Passage(context("status: {code: 503}"), HEAD)
    departure = passage.request(chat())
    assert departure.answer is not None
    assert departure.answer.status == 503
    (line,) = passage.ledger()
    assert (line.fault, line.outcome) == ("status", "fired")
    assert line.effect


def test_a_cut_stream_ends_after_its_events_and_the_ledger_says_where() -> None:
    passage = Passage(context("cut_stream: {after_events: 2}"), HEAD)
    actions = through(passage, chat(stream=True), SSE, STREAM)
    assert sent(actions) == b"".join(STREAM[:2])
    assert actions[-1] == Cut()
    (line,) = passage.ledger()
    assert line.outcome == "fired"
    assert "2" in str(line.effect)


def test_a_fault_whose_moment_never_came_has_not_fired() -> None:
    passage = Passage(context("reset: {at: {after_bytes: 100000}}"), HEAD)
    actions = through(passage, chat(stream=True), SSE, STREAM)
    assert sent(actions) == b"".join(STREAM)
    assert [line.outcome for line in passage.ledger()] == ["no_effect"]


def test_a_stream_fault_on_a_whole_answer_says_why_not() -> None:
    passage = Passage(context("cut_stream: {after_events: 1}"), HEAD)
    whole = Response(200, "OK", (("content-type", "application/json"),))
    assert sent(through(passage, chat(), whole, [b"{}"])) == b"{}"
    (line,) = passage.ledger()
    assert line.outcome == "inapplicable"
    assert "stream" in line.reason


def test_later_faults_see_what_earlier_ones_deliver() -> None:
    passage = Passage(context("slow_tokens: {ms: 10}", "cut_stream: {after_events: 1}"), HEAD)
    actions = through(passage, chat(stream=True), SSE, STREAM)
    assert [type(a) for a in actions][-1] is Cut
    assert any(isinstance(a, Wait) for a in actions) or passage.ledger()[0].outcome != "fired"
    assert sent(actions) == STREAM[0]


def test_a_body_that_must_be_read_is_asked_for_unpacked() -> None:
    touched = Passage(context("truncate_response: {max_tokens: 1}"), HEAD).request(chat())
    assert header(touched.request.headers, "accept-encoding") == "identity"
    untouched = Passage(context("latency: {ms: 1}"), HEAD).request(chat())
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
    first = Passage(session, HEAD)
    body = first.request(chat(QUESTION, CALL, RESULT)).request.body
    assert body is not None
    assert b"on fire" in body
    assert b'"42"' not in body
    assert [(f.outcome, f.subject) for f in first.ledger()] == [("fired", "calc")]

    later = Passage(session, HEAD)
    history = (QUESTION, CALL, RESULT, {"role": "assistant", "content": "hm"}, {"role": "user", "content": "?"})
    assert b"on fire" in (later.request(chat(*history)).request.body or b"")
    assert later.ledger() == (), "the same result is not decided twice"


def test_an_old_result_is_left_alone() -> None:
    passage = Passage(context("tool_error: {message: on fire}"), HEAD)
    history = (QUESTION, CALL, RESULT, {"role": "assistant", "content": "42"}, {"role": "user", "content": "?"})
    body = chat(*history)
    assert passage.request(body).request.body == body


def test_the_length_follows_a_rewritten_request() -> None:
    body = chat(QUESTION, CALL, RESULT)
    head = replace(HEAD, headers=(*HEADERS, ("Content-Length", str(len(body)))))
    request = Passage(context("tool_error: {message: on fire}"), head).request(body).request
    assert header(request.headers, "content-length") == str(len(request.body or b""))


def test_a_retry_shares_the_decision_of_its_call() -> None:
    profile = (
        "name: once\ndescription: d\nfaults:\n"
        "  - status: {code: 500}\n    trigger: {max_times: 1}\n"
    )
    session = context(profile=profile)

    def attempt(count: int, text: str) -> int | None:
        head = replace(HEAD, headers=(*HEADERS, ("x-stainless-retry-count", str(count))))
        answer = Passage(session, head).request(chat({"role": "user", "content": text})).answer
        return answer.status if answer else None

    assert [attempt(n, "a") for n in range(3)] == [500, 500, 500], "the whole logical call fails"
    assert attempt(0, "b") is None, "and only that one"


def test_a_malformed_request_goes_on_unchanged() -> None:
    passage = Passage(context("truncate_response: {max_tokens: 1}", "tool_error: {message: x}"), HEAD)
    assert passage.request(b'{"messages": 7').request.body == b'{"messages": 7'


@pytest.mark.parametrize("status", [200, 503])
def test_an_entry_on_the_status_is_decided_when_the_status_is_there(status: int) -> None:
    profile = (
        "name: late\ndescription: d\nfaults:\n"
        "  - cut_stream: {after_events: 1}\n    on: {status: 200}\n"
    )
    passage = Passage(context(profile=profile), HEAD)
    actions = through(passage, chat(stream=True), replace(SSE, status=status), STREAM)
    assert (actions[-1] == Cut()) == (status == 200)
    assert [f.outcome for f in passage.ledger()] == (["fired"] if status == 200 else [])
