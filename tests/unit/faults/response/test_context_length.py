from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faultwire import wire
from faultwire.events import Exchange, Request
from faultwire.faults.response.context_length import ContextLength
from faultwire.wire.editing import token_budget

WORDS = "one two three four five six"
CHAT = {"messages": [{"role": "user", "content": WORDS}]}
BODIES = {
    "openai_chat": ("api.openai.com", "/v1/chat/completions", CHAT),
    "openai_responses": ("api.openai.com", "/v1/responses", {"input": WORDS}),
    "anthropic": (
        "api.anthropic.com", "/v1/messages", {"max_tokens": 9, **CHAT},
    ),
    "gemini": (
        "generativelanguage.googleapis.com", "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": WORDS}]}]},
    ),
    "cohere": ("api.cohere.com", "/v2/chat", CHAT),
}  # fmt: skip
SAYS = {
    "openai_chat": "maximum context length is 11 tokens. However, your messages resulted in 12 tokens",
    "openai_responses": "Your input exceeds the context window of this model.",
    "anthropic": "prompt is too long: 12 tokens > 11 maximum",
    "gemini": "The input token count (12) exceeds the maximum number of tokens allowed (11).",
    "cohere": "exceeds the limit of 11.",
}


def asked(name: str, **more: object) -> Exchange:
    host, path, document = BODIES[name]
    body = json.dumps({"model": "m", **document, **more}).encode()
    request = Request("POST", "https", host, 443, path, (("content-type", "application/json"),), body)
    found = wire.understand(request)
    protocol = found.protocol.name if found.protocol else None
    return Exchange("s", 1, request, found.kind, protocol, found.provider, view=found.view, key="k")


def test_each_provider_says_it_in_its_way(chat, anthropic, dice):
    openai, other = (ContextLength().start(e, dice()).answer() for e in (chat(), anthropic))
    assert (openai.status, other.status) == (400, 400)
    assert json.loads(openai.body)["error"]["code"] == "context_length_exceeded"
    assert json.loads(other.body)["error"]["message"].startswith("prompt is too long")


def test_only_a_model_has_a_context(chat, web):
    assert ContextLength().inapplicable(chat()) is None
    assert ContextLength().inapplicable(web) == "the exchange is `tool`, not `llm`"


@pytest.mark.parametrize("name", BODIES)
def test_a_request_over_the_limit_is_answered_with_both_figures(name, dice):
    exchange = asked(name)
    assert token_budget.of_request(exchange.view) == 12
    fault = ContextLength(over_tokens=11)
    assert fault.inapplicable(exchange) is None
    mutator = fault.start(exchange, dice())
    answer = mutator.answer()
    assert SAYS[name] in answer.body.decode()
    assert mutator.effect.endswith("about 12 tokens (estimated) are over the limit of 11")
    if name.startswith("openai"):
        assert json.loads(answer.body)["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("name", BODIES)
def test_a_request_within_the_limit_passes(name):
    why = ContextLength(over_tokens=12).inapplicable(asked(name))
    assert why == "about 12 tokens (estimated), no more than the limit"


def test_a_text_of_ones_own_stays(dice):
    answer = ContextLength(over_tokens=1, message="full").start(asked("anthropic"), dice()).answer()
    assert json.loads(answer.body)["error"]["message"] == "full"


def test_of_a_conversation_that_the_provider_keeps_the_length_is_not_known():
    for member, value in (("previous_response_id", "resp_1"), ("conversation", {"id": "conv_1"})):
        exchange = asked("openai_responses", **{member: value})
        why = "the provider keeps the conversation: its length is not known"
        assert ContextLength(over_tokens=1).inapplicable(exchange) == why
        assert ContextLength().inapplicable(exchange) is None


def test_a_request_that_was_not_read_has_no_length():
    exchange = replace(asked("openai_chat"), view=None)
    assert ContextLength(over_tokens=1).inapplicable(exchange) == "the length of the request is not known"


def test_a_limit_of_nothing_is_refused():
    with pytest.raises(ValueError, match="over_tokens"):
        ContextLength(over_tokens=0)
