from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.events import header
from faultwire.faults.response.rate_limit import RateLimit


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
