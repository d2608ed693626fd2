"""Conversations that the provider keeps, and signed requests.

faultwire.exchange.pipeline, faultwire.exchange.session_state.

Covers faultwire.wire.conversation_history.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.exchange.test_pipeline import HEAD, HEADERS, chat, context
from tests.unit.wire.provider_shapes import BEDROCK, RESPONSES, SIGNED
from tests.unit.wire.shapes import pack

from faultwire.events import RequestView, Response, Send, ToolCall, ToolResult, Turn, header
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import KEPT, SessionState
from faultwire.wire.framing import split as framing

ASK = replace(HEAD, path="/v1/responses")
SSE = Response(200, "OK", (("content-type", framing.SSE),))
JSON = Response(200, "OK", (("content-type", "application/json"), ("content-length", "9")))
ON_FIRE = """
name: fire
description: x
tools: {}
faults:
  - tool_error: {message: on fire}
    on: {tool: get_weather}
"""


def through(pipeline: ExchangePipeline, body: bytes, response: Response, chunks: list[bytes]) -> bytes:
    """What is delivered of a response."""
    assert pipeline.request(body).answer is None
    pipeline.head(response)
    actions = [action for chunk in chunks for action in pipeline.feed(chunk)]
    actions += list(pipeline.finish())
    return b"".join(action.data for action in actions if isinstance(action, Send))


def asks(**more: Any) -> bytes:
    return pack({"model": "m", "input": "Weather?", **more})


def answers(call_id: str = "call_a1") -> bytes:
    output = {"type": "function_call_output", "call_id": call_id, "output": "sunny"}
    return pack({"model": "m", "previous_response_id": "resp_1", "input": [output]})


def told(made: SessionContext, body: bytes) -> tuple[bytes, list[str]]:
    pipeline = ExchangePipeline(made, ASK)
    request = pipeline.request(body).request
    pipeline.head(JSON)
    return request.body or b"", [line.outcome for line in pipeline.ledger()]


@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_a_call_is_known_by_name_from_an_earlier_streamed_response(size: int) -> None:
    made = context(profile=ON_FIRE)
    chunks = [RESPONSES.stream[at : at + size] for at in range(0, len(RESPONSES.stream), size)]
    pipeline = ExchangePipeline(made, ASK)
    assert through(pipeline, asks(stream=True), SSE, chunks) == RESPONSES.stream
    assert not pipeline.needs_response_body
    body, outcomes = told(made, answers())
    assert b"on fire" in body
    assert outcomes == ["fired"]


def test_a_call_is_known_by_name_from_an_earlier_whole_response() -> None:
    made = context(profile=ON_FIRE)
    pipeline = ExchangePipeline(made, ASK)
    assert through(pipeline, asks(), JSON, [pack(RESPONSES.whole)]) == pack(RESPONSES.whole)
    assert pipeline.needs_response_body, "so that its length stays as it was"
    assert told(made, answers())[1] == ["fired"]


def test_the_call_is_known_as_soon_as_the_client_may_know_it() -> None:
    made = context(profile=ON_FIRE)
    pipeline = ExchangePipeline(made, ASK)
    pipeline.request(asks(stream=True))
    pipeline.head(SSE)
    assert list(pipeline.feed(RESPONSES.stream)) == [Send(RESPONSES.stream)]
    assert told(made, answers())[1] == ["fired"]


@pytest.mark.parametrize("more", [{"store": False}, {"store": False, "stream": True}])
def test_a_response_that_is_not_kept_is_not_listened_to(more: dict[str, Any]) -> None:
    pipeline = ExchangePipeline(context(profile=ON_FIRE), ASK)
    pipeline.request(asks(**more))
    head = SSE if "stream" in more else JSON
    assert pipeline.head(head) is head
    assert not pipeline.touches


def test_without_a_fault_on_results_nothing_is_listened_to() -> None:
    pipeline = ExchangePipeline(context("cut_stream: {after_events: 1}"), ASK)
    pipeline.request(asks())
    pipeline.head(JSON)
    assert not pipeline.touches


def test_an_unknown_call_stays_without_a_name() -> None:
    body, outcomes = told(context(profile=ON_FIRE), answers("call_other"))
    assert (body, outcomes) == (answers("call_other"), [])


def test_the_state_names_results_and_forgets_old_calls() -> None:
    state = SessionState()
    state.learn([ToolCall("", "nameless", ""), ToolCall("a", "x", "{}")])
    results = tuple(
        ToolResult(i, n, "", "", False, (), True) for i, n in (("a", None), ("b", None), ("c", "z"))
    )
    view = RequestView("m", False, turns=(Turn("tool", "", (), results),))
    assert [(r.name, r.arguments) for r in state.with_tool_names(view).results] == [
        ("x", "{}"),
        (None, ""),
        ("z", ""),
    ]
    assert SessionState().with_tool_names(view) is view
    state.learn(ToolCall(str(i), "y", "") for i in range(KEPT))
    assert "a" not in state.tools
    assert len(state.tools) == KEPT


# ---------------------------------------------------------------- signatures

BEDROCK_HEAD = replace(
    HEAD,
    host="bedrock-runtime.us-east-1.amazonaws.com",
    path="/model/m/converse",
    headers=(*HEADERS, ("authorization", SIGNED)),
)
WEATHER = ON_FIRE.replace("get_weather", "weather")


def test_a_signed_request_is_never_rewritten_and_the_ledger_reports_that() -> None:
    made = context(profile=WEATHER)
    body = pack(BEDROCK.request)
    for _ in range(2):
        pipeline = ExchangePipeline(made, BEDROCK_HEAD)
        request = pipeline.request(body).request
        assert (request.body, request.headers) == (body, BEDROCK_HEAD.headers)
        for line in pipeline.ledger():
            assert (line.outcome, line.effect) == ("inapplicable", None)
            assert "signed" in line.reason


def test_the_same_request_with_a_bearer_token_is_rewritten() -> None:
    headers = (*HEADERS, ("authorization", "Bearer x"))
    pipeline = ExchangePipeline(context(profile=WEATHER), replace(BEDROCK_HEAD, headers=headers))
    body = pipeline.request(pack(BEDROCK.request)).request.body or b""
    pipeline.head(JSON)
    result = json.loads(body)["messages"][2]["content"][0]["toolResult"]
    assert (result["status"], "on fire" in str(result["content"])) == ("error", True)
    assert [line.outcome for line in pipeline.ledger()] == ["fired"]


@pytest.mark.parametrize(
    ("signed", "asked"),
    [(SIGNED, "identity"), (SIGNED.replace("host;", "accept-encoding;host;"), "gzip, br")],
)
def test_a_signed_header_is_left_alone(signed: str, asked: str) -> None:
    head = replace(BEDROCK_HEAD, headers=(*HEADERS, ("authorization", signed)))
    pipeline = ExchangePipeline(context("truncate_response: {max_tokens: 1}"), head)
    request = pipeline.request(pack(BEDROCK.request)).request
    assert header(request.headers, "accept-encoding") == asked


def test_boto3_counts_its_attempts() -> None:
    made = context("latency: {ms: 1}")
    attempts = []
    for told_ in ("attempt=1; max=3", "attempt=2; max=3", "attempt=1; max=3"):
        pipeline = ExchangePipeline(made, replace(HEAD, headers=(*HEADERS, ("amz-sdk-request", told_))))
        pipeline.request(chat())
        attempts.append((pipeline.exchange.n, pipeline.exchange.attempt))
    assert attempts == [(0, 0), (0, 1), (1, 0)]
