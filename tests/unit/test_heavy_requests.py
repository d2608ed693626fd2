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
from faultwire.wire.recognition import size_limit

JSON = (("content-type", "application/json"),)
REFERENCES = 6
"""The longest that one request may hold the event loop up, in runs of `reference`: 72 ms where that takes 12.
It is a ratio of CPU times in one process, so that neither a slow machine nor a busy one counts."""
MANY_RESULTS = 12
"""The same for as many tool results as are read: faults are decided for each of them, and each is a message
of a conversation that an attack must know again. It takes 8 alone, and up to 10.5 beside two busy processes,
which take the caches away."""
FAULTS = (
    "latency: {ms: 1}",
    "{tool_error: {message: x}, on: {tool: search}}",
    "{injection_via_context: {payload: obey}, on: {text: weather}}",
    "{status: {code: 503}, on: {kind: llm, body: {'$..model': gpt-*}}}",
)
ZEROS = b"0," * (25 << 20) + b"0"


def tool_results(count: int) -> bytes:
    message = {"role": "tool", "tool_call_id": "x", "content": "[1]"}
    return json.dumps({"model": "m", "messages": [message] * count}).encode()


BODIES = {
    "fifty megabytes of zeros": b'{"model":"m","messages":[{"role":"user","content":"x"}],"x":['
    + ZEROS
    + b"]}",
    "a text of fifty megabytes": b'{"model":"m","messages":[{"role":"user","content":"'
    + b"x" * (50 << 20)
    + b'"}]}',
    "brackets": b"[" * (50 << 20),
    "heavier than is read": tool_results(4000),
    "as heavy as is read": tool_results(3980),
    "as long as is read": b'{"model":"m","messages":[{"role":"user","content":"'
    + b"x" * (8_380_000)
    + b'"}]}',
}
READ = ("as heavy as is read", "as long as is read")


def pipeline(path: str, *faults: str) -> ExchangePipeline:
    profile = merge([inline(fault) for fault in faults])
    context = SessionContext("s", profile, Dice(1, "s"), SessionState(), lambda: 0.0)
    return ExchangePipeline(context, Request("POST", "https", "api.openai.com", 443, path, JSON))


def reference() -> int:
    """A million additions: they allocate nothing, whose cost would depend on what the process did before."""
    return sum(range(1_000_000))


def cost(body: bytes, path: str, rounds: int = 25, enough: float = 0.0) -> float:
    """The CPU time of one request with this body, in references; the best of several rounds of each. Five do
    where that is `enough`: neighbours that take the caches away only make it more."""
    took, base = [], []
    for number in range(rounds):  # by turns: both meet the same clock speed and the same neighbours
        if number >= 5 and min(took) / min(base) <= enough:
            break
        began = time.process_time()
        reference()
        base.append(time.process_time() - began)
        exchange_record = pipeline(path, *FAULTS)
        assert exchange_record.needs_request_body
        began = time.process_time()
        departure = exchange_record.request(body)
        list(departure.actions)
        took.append(time.process_time() - began)
        assert departure.request.body == body
    return min(took) / min(base)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/somewhere/else"])
@pytest.mark.parametrize("name", BODIES)
def test_no_body_holds_the_event_loop_up(name: str, path: str) -> None:
    assert size_limit.is_heavy(BODIES[name]) == (name not in READ)
    most = MANY_RESULTS if name == "as heavy as is read" else REFERENCES
    assert cost(BODIES[name], path, enough=most) <= most


@pytest.mark.parametrize("name", ["a text of fifty megabytes", "brackets", "heavier than is read"])
def test_without_the_limit_a_body_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limit, "MOST", 1 << 40)
    body = tool_results(16_000) if name == "heavier than is read" else BODIES[name]
    most = MANY_RESULTS if name == "heavier than is read" else REFERENCES
    assert cost(body, "/v1/chat/completions", rounds=2) > 2 * most


def test_faults_that_had_to_read_it_report_that() -> None:
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


def test_nothing_is_reported_of_one_that_is_read() -> None:
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
