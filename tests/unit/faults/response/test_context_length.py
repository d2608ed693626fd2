from __future__ import annotations

import json

from faultwire.faults.response.context_length import ContextLength


def test_each_provider_says_it_in_its_way(chat, anthropic, dice):
    openai, other = (ContextLength().start(e, dice()).answer() for e in (chat(), anthropic))
    assert (openai.status, other.status) == (400, 400)
    assert json.loads(openai.body)["error"]["code"] == "context_length_exceeded"
    assert json.loads(other.body)["error"]["message"].startswith("prompt is too long")


def test_only_a_model_has_a_context(chat, web):
    assert ContextLength().inapplicable(chat()) is None
    assert ContextLength().inapplicable(web) == "the exchange is `tool`, not `llm`"
