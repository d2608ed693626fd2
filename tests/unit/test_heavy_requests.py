"""Requests that are too heavy to be read while others wait.

faultwire.exchange.pipeline, faultwire.exchange.plan.unread.
"""

from __future__ import annotations

import json
import time

import pytest

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Request
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import inline, merge

JSON = (("content-type", "application/json"),)
LOOP_S = 0.050
"""The longest that one request may hold the event loop up."""
FAULTS = (
    "latency: {ms: 1}",
    "{tool_error: {message: x}, on: {tool: search}}",
    "{injection_via_context: {payload: obey}, on: {text: weather}}",
    "{status: {code: 503}, on: {kind: llm, body: {'$..model': gpt-*}}}",
)
ZEROS = b"0," * (25 << 20) + b"0"
BODIES = {
    "fifty megabytes of zeros": b'{"model":"m","messages":[{"role":"user","content":"x"}],"x":['
    + ZEROS
    + b"]}",
    "a text of fifty megabytes": b'{"model":"m","messages":[{"role":"user","content":"'
    + b"x" * (50 << 20)
    + b'"}]}',
    "brackets": b"[" * (50 << 20),
    "as heavy as is read": json.dumps(
        {"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": "[1]"}] * 4000}
    ).encode(),
    "as long as is read": b'{"model":"m","messages":[{"role":"user","content":"'
    + b"x" * (8_380_000)
    + b'"}]}',
}


def pipeline(path: str, *faults: str) -> ExchangePipeline:
    profile = merge([inline(fault) for fault in faults])
    context = SessionContext("s", profile, Dice(1, "s"), SessionState(), lambda: 0.0)
    return ExchangePipeline(context, Request("POST", "https", "api.openai.com", 443, path, JSON))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/somewhere/else"])
@pytest.mark.parametrize("name", BODIES)
def test_no_body_holds_the_event_loop_up(name: str, path: str) -> None:
    body, took = BODIES[name], []
    for _ in range(5):  # the best counts: other work on this machine is none of ours
        exchange_record = pipeline(path, *FAULTS)
        assert exchange_record.needs_request_body
        began = time.process_time()
        departure = exchange_record.request(body)
        list(departure.actions)
        took.append(time.process_time() - began)
        assert departure.request.body == body
    assert min(took) <= LOOP_S, [round(seconds * 1000, 1) for seconds in took]


def test_faults_that_had_to_read_it_say_so() -> None:
    heavy = (
        b'{"model":"gpt-4o","messages":[{"role":"user","content":"weather"}],"x":['
        + b"0," * (1 << 20)
        + b"0]}"
    )
    exchange_record = pipeline("/v1/chat/completions", *FAULTS)
    list(exchange_record.request(heavy).actions)
    assert (exchange_record.exchange.kind, exchange_record.exchange.view) == ("llm", None)
    lines = {line.fault: (line.outcome, line.reason) for line in exchange_record.over()}
    assert lines.pop("latency") == ("fired", "call 1 matches")
    assert lines == dict.fromkeys(
        ("tool_error", "injection_via_context", "status"), ("inapplicable", wire.HEAVY)
    )


def test_nothing_is_said_of_one_that_is_read() -> None:
    light = b'{"model":"gpt-4o","messages":[{"role":"user","content":"weather"}]}'
    exchange_record = pipeline("/v1/chat/completions", *FAULTS)
    list(exchange_record.request(light).actions)
    assert all(line.reason != wire.HEAVY for line in exchange_record.over())


def test_an_unknown_path_may_be_anybody_s() -> None:
    heavy = b'{"model":"m","messages":[{"role":"user","content":"x"}],"x":[' + b"0," * (1 << 20) + b"0]}"
    exchange_record = pipeline("/gateway", "{status: {code: 503}, on: {kind: llm}}")
    departure = exchange_record.request(heavy)
    list(departure.actions)
    assert departure.answer is None
    assert [(line.outcome, line.reason) for line in exchange_record.over()] == [("inapplicable", wire.HEAVY)]
    told = pipeline("/gateway", "{status: {code: 503}, on: {kind: llm}}")
    answered = told.request(heavy.partition(b',"x"')[0] + b"}")
    list(answered.actions)
    assert answered.answer is not None, "negative control: what is read is a model's"
