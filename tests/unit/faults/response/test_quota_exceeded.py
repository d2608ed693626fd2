from __future__ import annotations

import json

from faultwire.faults.response.quota_exceeded import QuotaExceeded


def test_each_provider_says_it_in_its_way(chat, anthropic, web, dice):
    openai, other, plain = (QuotaExceeded().start(e, dice()).answer() for e in (chat(), anthropic, web))
    assert (openai.status, other.status, plain.status) == (429, 400, 402)
    assert json.loads(openai.body)["error"]["code"] == "insufficient_quota"
    assert "credit balance" in json.loads(other.body)["error"]["message"]


def test_the_effect_names_the_status(chat, dice):
    mutator = QuotaExceeded(message="spent").start(chat(), dice())
    assert b"spent" in mutator.answer().body
    assert mutator.effect == "answered 429"
