"""What a log claims, in the words of both generations of its format."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from faultwire.ingestion.claims import forms, log_of


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_second_generation() -> None:
    log = log_of(
        [
            (1, "SESSION_START", {"agent_id": "a"}),
            (2, "LLM_CALL", {"model_id": "gpt-4o", "prompt_hash": "x"}),
            (3, "LLM_RESPONSE", {"content_hash": "c", "finish_reason": "stop"}),
            (4, "TOOL_CALL", {"tool_name": "t", "args_hash": "a"}),
            (5, "TOOL_RESULT", {"tool_name": "t", "result_hash": "r"}),
            (6, "TOOL_ERROR", {"error_type": "E"}),
            (7, "LOG_DROP", {"count": 3}),
            (8, "SESSION_END", {"status": "success"}),
        ]
    )
    found = [(claim.kind, claim.number, claim.name, claim.digest) for claim in log.claims]
    assert found == [
        ("call", 2, "gpt-4o", None),
        ("answer", 3, None, "c"),
        ("tool call", 4, "t", "a"),
        ("tool result", 5, "t", "r"),
    ]
    assert (log.errors, log.lost, log.claims[1].finish) == (1, 3, "stop")


def test_the_first_generation_holds_what_was_said() -> None:
    log = log_of(
        [
            (0, "MODEL_REQUEST", {"model": "m", "messages": []}),
            (1, "MODEL_RESPONSE", {"model": "m", "content": "hello"}),
            (2, "TOOL_CALL", {"tool_name": "t", "args": {"a": 1}}),
            (3, "TOOL_RESULT", {"tool_name": "t", "result": "[REDACTED]", "result_hash": "r"}),
        ]
    )
    assert [claim.value for claim in log.claims] == [None, "hello", {"a": 1}, None]
    assert log.claims[3].digest == "r"


def test_the_class_of_a_client_is_no_model() -> None:
    told = {"model_id": "ChatOpenAI", "model_class": "ChatOpenAI"}
    log = log_of([(1, "LLM_CALL", told), (2, "LLM_CALL", {**told, "model_class": "Other"})])
    assert [claim.name for claim in log.claims] == [None, "ChatOpenAI"]


def test_the_one_generation_of_an_answer_has_its_hash_and_of_several_none() -> None:
    one, two = {"generations": [{"content_hash": "g"}]}, {"generations": [{"content_hash": "g"}] * 2}
    log = log_of([(1, "LLM_RESPONSE", one), (2, "LLM_RESPONSE", two)])
    assert [claim.digest for claim in log.claims] == ["g", None]


@pytest.mark.parametrize("payload", [None, [], "text", 7, {}, {"tool_name": ["x"], "args_hash": 1}], ids=repr)
def test_hostile_payloads_claim_little_and_raise_nothing(payload: Any) -> None:
    log = log_of([(1, "TOOL_CALL", payload)])
    assert all(claim.name is None and claim.digest is None for claim in log.claims)


def test_a_value_is_hashed_in_the_ways_that_sdks_have() -> None:
    value = '{"b": 1, "a": "ä"}'
    made = forms(value)
    assert made["text"] == sha(value)
    assert made["dumps"] == sha(json.dumps(value))
    assert made["dumps of its JSON"] == sha('{"a": "\\u00e4", "b": 1}')
    assert made["compact of its JSON"] == sha('{"a":"\\u00e4","b":1}')
    assert made["canonical of its JSON"] == sha('{"a":"ä","b":1}')
    assert set(forms("no JSON")) == {"text", "dumps", "compact", "canonical"}
    assert forms("[" * 50_000)["text"] == sha("[" * 50_000)
