from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Chunk, Response, Send, header
from faultwire.faults.response._quota import Window
from faultwire.faults.response.rate_limit import RateLimit

OK = Response(200, "OK", (("content-type", "application/json"),))


def answered(fault, exchange, dice):
    mutator = fault.start(exchange, dice())
    assert mutator.effect is None
    answer = mutator.answer()
    assert answer is not None
    return answer, mutator.effect


def test_openais_429(chat, dice):
    answer, effect = answered(RateLimit(retry_after_s=2), chat(), dice)
    assert answer.status == 429
    assert effect == "answered 429, retry after 2 s"
    assert json.loads(answer.body)["error"]["code"] == "rate_limit_exceeded"
    assert header(answer.headers, "retry-after") == "2"
    assert header(answer.headers, "x-ratelimit-limit-requests")


def test_anthropics_429(anthropic, dice):
    answer, _ = answered(RateLimit(retry_after_s=2), anthropic, dice)
    assert json.loads(answer.body)["error"]["type"] == "rate_limit_error"
    assert header(answer.headers, "retry-after") == "2"


def test_a_web_services_429(web, dice):
    answer, _ = answered(RateLimit(retry_after_s=1.2), web, dice)
    assert header(answer.headers, "retry-after") == "2", "whole seconds, rounded up"


def test_the_header_may_be_missing(web, dice):
    answer, effect = answered(RateLimit(retry_after_s=None), web, dice)
    assert header(answer.headers, "retry-after") is None
    assert effect == "answered 429, no `retry-after`"


@pytest.mark.parametrize("seconds", [-1, 86_401, float("inf"), float("nan")])
def test_bounds(seconds):
    with pytest.raises(ValidationError):
        RateLimit(retry_after_s=seconds)


# ---------------------------------------------------------------- quotas


def call(fault, exchange, memory, dice, at_s, told=None):
    """One call at an instant: the status that came, and the head."""
    mutator = fault.start(replace(exchange, at_s=at_s), dice())
    mutator.arrived(memory, at_s)
    answer = mutator.answer()
    if answer is not None:
        assert mutator.effect
        return answer
    head = mutator.head(OK)
    unit = "body" if isinstance(told, bytes) else "event"
    for index, data in enumerate([told] if isinstance(told, bytes) else told or []):
        assert list(mutator.feed(Chunk(data, index, unit))) == [Send(data)]
    assert list(mutator.finish()) == []
    assert mutator.effect is None, "a call that goes through met nothing"
    return head


def test_a_window_of_requests(chat, dice, answer):
    memory, fault = {}, RateLimit(requests=2, window_s=10)
    heads = [call(fault, chat(), memory, dice, at, answer) for at in (1.0, 2.0, 4.0, 10.9, 11.0)]
    assert [head.status for head in heads] == [200, 200, 429, 429, 200]
    left = [header(head.headers, "x-ratelimit-remaining-requests") for head in heads]
    assert left == ["1", "0", "0", "0", "1"]
    assert header(heads[2].headers, "retry-after") == "7"
    assert header(heads[2].headers, "x-ratelimit-limit-requests") == "2"
    assert header(heads[2].headers, "x-ratelimit-reset-requests") == "7s"


def test_a_window_of_tokens_counts_usage(chat, dice, answer):
    memory, fault = {}, RateLimit(tokens=15, window_s=60)
    heads = [call(fault, chat(), memory, dice, at, answer) for at in (0.0, 1.0, 2.0)]
    assert [head.status for head in heads] == [200, 200, 429], "each answer used 10"
    assert [header(head.headers, "x-ratelimit-remaining-tokens") for head in heads] == ["15", "5", "0"]


def test_streams_count_too_with_usage_or_without(chat, dice, text_stream):
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}\n\n'
    for stream, used in ((text_stream, 5), ([*text_stream[:-1], usage, text_stream[-1]], 14)):
        memory: dict[str, object] = {}
        fault = RateLimit(tokens=1000)
        sse = replace(OK, headers=(("content-type", "text/event-stream"),))
        mutator = fault.start(chat(stream=True), dice())
        mutator.arrived(memory, 0.0)
        assert mutator.answer() is None
        mutator.head(sse)
        for index, event in enumerate(stream):
            list(mutator.feed(Chunk(event, index, "event")))
        list(mutator.finish())
        assert memory["window"].used_tokens == used


def test_anthropic_counts_down_in_its_own_headers(anthropic, dice):
    head = call(RateLimit(requests=5, tokens=100), anthropic, {}, dice, 0.0, b"{}")
    assert header(head.headers, "anthropic-ratelimit-requests-remaining") == "4"
    assert header(head.headers, "anthropic-ratelimit-tokens-limit") == "100"


@pytest.mark.parametrize(
    ("settings", "kind", "told", "left"),
    [
        ({"tokens": 5}, "tokens", "Rate limit reached for tokens. Please try again in 9s.", ("499", "0")),
        (
            {"requests": 1},
            "requests",
            "Rate limit reached for requests. Please try again in 9s.",
            ("0", "29000"),
        ),
    ],
)
def test_openai_shows_what_is_used_up(chat, dice, settings, kind, told, left):
    memory, fault = {}, RateLimit(**settings, window_s=10)
    usage = b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}'
    assert call(fault, chat(), memory, dice, 0.0, usage).status == 200
    limited = call(fault, chat(), memory, dice, 1.0)
    error = json.loads(limited.body)["error"]
    assert (limited.status, error["type"], error["message"]) == (429, kind, told)
    names = ("x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens")
    assert tuple(header(limited.headers, name) for name in names) == left
    assert header(limited.headers, "content-length") == str(len(limited.body))


@pytest.mark.parametrize(
    ("settings", "told"), [({"tokens": 5}, "30,000 input tokens"), ({"requests": 1}, "50 requests")]
)
def test_anthropic_shows_what_is_used_up(anthropic, dice, settings, told):
    memory, fault = {}, RateLimit(**settings, window_s=10)
    usage = b'{"type":"message","content":[],"usage":{"input_tokens":9,"output_tokens":5}}'
    assert call(fault, anthropic, memory, dice, 0.0, usage).status == 200
    limited = call(fault, anthropic, memory, dice, 1.0)
    assert f"of {told} per minute" in json.loads(limited.body)["error"]["message"]
    assert header(limited.headers, "content-length") == str(len(limited.body))


def test_a_wait_of_the_users_own_is_reported(web, dice):
    memory, fault = {}, RateLimit(requests=1, retry_after_s=300)
    assert call(fault, web, memory, dice, 0.0, b"x").status == 200
    limited = call(fault, web, memory, dice, 1.0)
    assert (limited.status, header(limited.headers, "retry-after")) == (429, "300")


def test_broken_answers_use_nothing(chat, dice):
    memory, fault = {}, RateLimit(tokens=5)
    assert call(fault, chat(), memory, dice, 0.0, b"no json").status == 200
    assert call(fault, chat(), memory, dice, 1.0, b"\xff").status == 200


@pytest.mark.parametrize("settings", [{"requests": 0}, {"tokens": 0}, {"requests": 1, "window_s": 0}])
def test_bounds_of_a_quota(settings):
    with pytest.raises(ValidationError):
        RateLimit(**settings)


def test_a_window_begins_with_the_call_that_comes_after_the_last_one():
    window = Window(2, None, 10.0, 0.0, used_requests=2)
    window.enter(9.9)
    assert window.full == "requests"
    window.enter(37.0)
    assert (window.full, window.since_s, window.left(40.0).reset_s) == (None, 37.0, 7.0)
