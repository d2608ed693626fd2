"""What a log claims, in the words of both generations of its format."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from faultwire.ingestion.claims import forms, log_of, tool_messages


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


def test_the_class_of_a_client_is_no_model_and_its_metadata_has_the_name() -> None:
    told = {"model_id": "ChatOpenAI", "model_class": "ChatOpenAI", "metadata": {"ls_model_name": "gpt-4o"}}
    answer = {"model_id": "ChatOpenAI", "llm_output": {"model_name": "gpt-4o-2024-08-06"}}
    streamed = {"model_id": "ChatOpenAI", "llm_output": None}
    log = log_of([(1, "LLM_CALL", told), (2, "LLM_RESPONSE", answer), (3, "LLM_RESPONSE", streamed)])
    assert [claim.name for claim in log.claims] == ["gpt-4o", "gpt-4o-2024-08-06", None]
    assert log_of([(1, "LLM_RESPONSE", answer)]).claims[0].name == "ChatOpenAI"


def test_what_an_agent_decides_is_no_model_call() -> None:
    decided = {"run_id": "r", "action_type": "agent_action", "tool": "search", "log": ""}
    assert log_of([(1, "LLM_CALL", decided)]).claims == ()
    assert len(log_of([(1, "LLM_CALL", {"run_id": "r"})]).claims) == 1


def test_tokens_and_the_reason_for_ending_are_found_where_sdks_put_them() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 7}
    made = [{"content_hash": "c", "generation_info": {"finish_reason": "stop"}}]
    log = log_of(
        [
            (1, "LLM_RESPONSE", {"generations": made, "llm_output": {"token_usage": usage}}),
            (
                2,
                "LLM_RESPONSE",
                {"usage": {"input_tokens": 3, "output_tokens": 4}, "finish_reason": "length"},
            ),
            (3, "LLM_RESPONSE", {"completion_token_count": 24}),
            (4, "LLM_RESPONSE", {"usage": {"input_tokens": True, "output_tokens": -4}}),
        ]
    )
    assert [claim.tokens for claim in log.claims] == [(12, 7), (3, 4), (None, 24), (None, None)]
    assert [claim.finish for claim in log.claims] == ["stop", "length", None, None]


def test_an_answer_belongs_to_its_call_and_a_result_to_the_call_of_its_tool() -> None:
    log = log_of(
        [
            (1, "LLM_CALL", {}),
            (2, "TOOL_CALL", {"tool_name": "a"}),
            (3, "TOOL_CALL", {"tool_name": "b"}),
            (4, "TOOL_RESULT", {"tool_name": "b"}),
            (5, "TOOL_RESULT", {"tool_name": "a"}),
            (6, "LLM_RESPONSE", {}),
            (7, "LLM_RESPONSE", {"run_id": "r"}),
        ]
    )
    turns = {claim.number: claim.turn for claim in log.claims}
    assert (turns[6], turns[4], turns[5], turns[7]) == (turns[1], turns[3], turns[2], "r")


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
    assert made["str of its JSON"] == sha("{'b': 1, 'a': 'ä'}")
    assert made["raw_input of its JSON"] == sha(json.dumps({"raw_input": "{'b': 1, 'a': 'ä'}"}))
    assert set(forms("no JSON")) == {"text", "raw_input", "raw_output", "dumps", "compact", "canonical"}
    assert forms("[" * 50_000)["text"] == sha("[" * 50_000)


def test_a_result_is_also_hashed_in_the_message_that_langchain_makes_of_it() -> None:
    message = (
        '{"additional_kwargs": {}, "artifact": null, "content": "42", "id": null, "name": "calculator", '
        '"response_metadata": {}, "status": "success", "tool_call_id": "call_1", "type": "tool"}'
    )
    assert list(tool_messages("42", "calculator", ["call_1"])) == [sha(message)]
    assert sha(message) not in tool_messages("42", "calculator", ["call_2"])
