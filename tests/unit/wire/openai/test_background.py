"""Background answers of OpenAI Responses: fetched later, shown as a model's answer, and paid once."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.wire.shapes import post

from faultwire import wire
from faultwire.checks.max_cost import MaxCost
from faultwire.checks.max_llm_calls import MaxLlmCalls
from faultwire.checks.max_tokens import MaxTokens
from faultwire.checks.truncated_stream_not_accepted import TruncatedStreamNotAccepted
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.dice import Dice
from faultwire.events import Action, AgentResult, Delivery, History, Recorded, Response, Send, Usage
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile
from faultwire.report.progress import Progress
from faultwire.wire.transcript.fetched_answers import counted_elsewhere, is_fetch

HOST = "https://api.openai.com"
ID = "resp_68a1"
USAGE = {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500}
COST = Decimal("0.0075")  # gpt-4o: 2.5 and 10 dollars for a million tokens
OUTPUT = [
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 391."}]}
]


def answer(status: str, ident: str = ID, **changes: Any) -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": ident,
        "object": "response",
        "status": status,
        "model": "gpt-4o",
        "output": OUTPUT if done else [],
        "usage": USAGE if done else None,
        **changes,
    }


def event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def exchange(number: int, body: bytes, *, fetch: str | None = None, stream: bool = False) -> Recorded:
    kind = "text/event-stream" if stream else "application/json"
    made = Delivery(200, "OK", (("content-type", kind),), body)
    ask = {"model": "gpt-4o", "input": "17 times 23?", "background": True}
    request = post(f"{HOST}/v1/responses", ask)
    if fetch is not None:
        request = post(f"{HOST}/v1/responses/{fetch}", method="GET", json_type=False)
    found = wire.classify(request)
    assert found.protocol is not None
    return Recorded(
        "s", number, found.kind, found.protocol.name, found.provider, None, request, made, made,
        "complete", None, 0, number * 100, 9.0,
    )  # fmt: skip


def whole(number: int, status: str, *, fetch: str | None = None, **changes: Any) -> Recorded:
    return exchange(number, json.dumps(answer(status, **changes)).encode(), fetch=fetch)


POLLED = (
    whole(1, "queued"),
    whole(2, "in_progress", fetch=ID),
    whole(3, "completed", fetch=ID),
    whole(4, "completed", fetch=ID),
)


def history(*exchanges: Recorded) -> History:
    return History("s", exchanges, AgentResult("391", 0, 1.0))


def test_what_is_fetched_is_the_answer_of_a_model() -> None:
    queued, running, done = (wire.transcript_of(one) for one in POLLED[:3])
    assert queued
    assert running
    assert done
    assert [(t.answer.is_pending, t.answer.complete) for t in (queued, running) if t.answer] == [
        (True, True)
    ] * 2
    assert (queued.cost, queued.charged, running.cost) == (None, None, None), "not known yet, and not nothing"
    assert done.answer
    assert (done.model, done.answer.text, done.answer.is_pending) == ("gpt-4o", "It is 391.", False)
    assert (done.charged, done.cost) == (Usage(1000, 500), COST)
    assert done.request is not None
    assert (done.request.turns, done.request.stream) == ((), False)


def test_usage_counts_once_however_often_it_is_fetched() -> None:
    polled = history(*POLLED)
    assert MaxCost(max_usd=COST).judge(polled, "").verdict == "pass"
    assert MaxCost(max_usd=COST - Decimal("0.0001")).judge(polled, "").verdict == "fail"
    assert MaxTokens(max=1500).judge(polled, "").verdict == "pass"
    assert MaxTokens(max=1499).judge(polled, "").verdict == "fail"
    twice = history(*POLLED, whole(5, "completed", ident="resp_b"), whole(6, "completed", fetch="resp_b"))
    assert MaxTokens(max=3000).judge(twice, "").value == 3000
    assert MaxCost(max_usd=2 * COST).judge(twice, "").verdict == "pass"


def test_equal_ids_of_two_requests_are_paid_twice() -> None:
    """Only to fetch is free: a server that names its answers by their words charges for each."""
    asked = history(whole(1, "completed"), whole(2, "completed"))
    assert MaxTokens(max=9999).judge(asked, "").value == 3000


def test_an_answer_that_nobody_fetched_costs_unknown_once() -> None:
    left = history(*POLLED[:2])
    assert MaxCost(max_usd=1).judge(left, "").verdict == "unknown"
    found = MaxTokens(max=1).judge(left, "")
    assert found.verdict == "unknown"
    assert "1 response came without usage" in found.explanation


def test_to_fetch_is_no_call_and_no_truncated_answer() -> None:
    polled = history(*POLLED)
    assert MaxLlmCalls(max=1).judge(polled, "").verdict == "pass"
    assert MaxLlmCalls(max=0).judge(polled, "").verdict == "fail"
    found = TruncatedStreamNotAccepted().judge(history(*POLLED[:1]), "391")
    assert found.verdict != "fail", "a promise is whole as it is"


def test_the_line_of_progress_adds_up_what_was_paid() -> None:
    shown = Progress(1, None)
    invocation = Invocation(Scenario("calm", Profile(name="calm")), Prompt("p1", "?"))
    shown.played(invocation, history(*POLLED))
    assert "1.5k tokens" in shown.words()
    assert any(word.startswith("$0.0075 (prices of ") for word in shown.words())
    left = Progress(1, None)
    left.played(invocation, history(*POLLED[:2]))
    assert "cost unknown" in left.words()
    both = Progress(1, None)
    both.played(invocation, history(*POLLED, whole(9, "completed", model="somebodys-own", ident="resp_x")))
    assert any(word.startswith("$0.0075 + 1 unknown (") for word in both.words())


def test_a_resumed_stream_shows_the_whole_answer_and_is_paid_once() -> None:
    begun = event("response.created", response=answer("in_progress"))
    first = event("response.output_text.delta", output_index=0, content_index=0, delta="It is ")
    rest = event("response.output_text.delta", output_index=0, content_index=0, delta="391.")
    closed = event("response.completed", response=answer("completed"))
    cut = exchange(1, begun + first, stream=True)
    resumed = exchange(2, rest + closed, stream=True, fetch=f"{ID}?stream=true&starting_after=2")
    one, two = wire.transcript_of(cut), wire.transcript_of(resumed)
    assert one
    assert one.answer
    assert two
    assert two.answer
    assert two.request
    assert (one.answer.text, one.answer.complete, one.answer_id) == ("It is ", False, ID)
    assert (two.answer.text, two.answer.complete, two.request.stream) == ("It is 391.", True, True)
    assert MaxTokens(max=1500).judge(history(cut, resumed), "").verdict == "pass"
    assert counted_elsewhere([(cut, one), (resumed, two)]) == {1}
    uncut = wire.transcript_of(exchange(3, begun + first + rest + closed, stream=True))
    assert uncut
    assert uncut.answer
    assert uncut.answer.text == "It is 391.", "and not twice"


def test_calls_of_a_resumed_stream() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}
    tail = event("response.function_call_arguments.delta", output_index=0, delta="1}")
    closed = event("response.completed", response=answer("completed", output=[call]))
    found = wire.transcript_of(exchange(1, tail + closed, stream=True, fetch=f"{ID}?stream=true"))
    assert found
    assert found.answer
    assert [(c.id, c.name, c.arguments) for c in found.answer.tool_calls] == [("c1", "add", '{"a": 1}')]


def test_what_is_a_fetch() -> None:
    assert [is_fetch(one) for one in POLLED] == [False, True, True, True]
    assert not is_fetch(replace(POLLED[1], kind="other"))


def sent(actions: list[Action]) -> bytes:
    return b"".join(action.data for action in actions if isinstance(action, Send))


FAULTS = (
    "auth_error", "conflicting_context", "content_filter", "context_length", "corrupt_encoding",
    "cut_stream: {after_events: 1}", "dropped_tool_call", "duplicate_tool_call", "early_end", "empty_body",
    "empty_response", "garbage_body", "injection_via_context", "malformed_body", "malformed_tool_arguments",
    "memory_poisoning", "missing_usage", "overflow", "overloaded", "quota_exceeded", "rate_limit", "refusal",
    "stale_response", "status: {code: 503}", "stream_error",
    "truncate_response: {max_tokens: 1}", "unknown_tool_call", "wrong_finish_reason", "wrong_tool_arguments",
)  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_acts_on_a_fetch_or_states_that_it_cannot(fault: str) -> None:
    """A request without a body is no conversation; its answer is a model's."""
    made = merge([inline(fault if ":" in fault else f"{fault}: {{}}")])
    state = SessionContext("s", made, Dice(1, "s"), SessionState())
    pipeline = ExchangePipeline(state, replace(POLLED[2].request, body=None))
    delivered = POLLED[2].delivered
    assert delivered is not None
    departure = pipeline.request(b"" if pipeline.needs_request_body else None)
    assert departure.request.body in (None, b""), "nothing is put into a request without a body"
    actions: list[Action] = []
    if departure.answer is None:
        pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
        actions = [*pipeline.feed(delivered.body), *pipeline.finish()]
    (line, *_) = pipeline.ledger()
    if line.outcome == "fired":
        assert departure.answer is not None or sent(actions) != delivered.body
    else:
        assert line.outcome in ("inapplicable", "no_effect", "skipped")
        assert sent(actions) == delivered.body


def test_a_fetched_answer_is_shortened_as_any_other() -> None:
    made = merge([inline("truncate_response: {max_tokens: 1}")])
    pipeline = ExchangePipeline(
        SessionContext("s", made, Dice(1, "s"), SessionState()), replace(POLLED[2].request, body=None)
    )
    pipeline.request(b"" if pipeline.needs_request_body else None)
    pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
    delivered = POLLED[2].delivered
    assert delivered is not None
    cut = json.loads(sent([*pipeline.feed(delivered.body), *pipeline.finish()]))
    assert (cut["status"], cut["output"][0]["content"][0]["text"]) == ("incomplete", "It")
