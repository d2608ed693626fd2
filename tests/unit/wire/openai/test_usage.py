"""faultwire.wire.openai.usage, and what the other protocols count."""

from __future__ import annotations

import json
from functools import reduce
from typing import Any

import pytest

from faultwire import wire
from faultwire.events import Request, Usage
from faultwire.wire.anthropic import stream as anthropic
from faultwire.wire.bedrock import stream as bedrock
from faultwire.wire.google import gemini_stream, interactions_stream
from faultwire.wire.openai import responses_stream
from faultwire.wire.openai.usage import chat_usage, responses_usage

Json = dict[str, Any]


def test_chat_counts_cached_reasoning_and_audio_tokens() -> None:
    usage: Json = {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 200, "audio_tokens": 5},
    }
    assert chat_usage(usage) == Usage(
        2006, 300, cache_read_tokens=1920, reasoning_tokens=200, audio_input_tokens=4, audio_output_tokens=5
    )
    assert chat_usage({"prompt_tokens": 3, "completion_tokens": 2}) == Usage(3, 2)
    assert chat_usage(None) is None
    assert chat_usage({"prompt_tokens": 3, "prompt_tokens_details": None}) == Usage(3, 0)


@pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens"])
def test_imitators_name_cached_tokens_otherwise(name: str) -> None:
    assert chat_usage({"prompt_tokens": 9, "completion_tokens": 1, name: 8}) == Usage(9, 1, 8)


@pytest.mark.parametrize("details", ["tokens_details", "token_details"])
def test_responses_and_realtime(details: str) -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 7,
        f"input_{details}": {"cached_tokens": 4, "audio_tokens": 3},
        f"output_{details}": {"reasoning_tokens": 5, "audio_tokens": 2},
    }
    assert responses_usage(usage) == Usage(
        10, 7, cache_read_tokens=4, reasoning_tokens=5, audio_input_tokens=3, audio_output_tokens=2
    )
    assert responses_usage(None) is None


def test_anthropic_counts_both_kinds_of_writes() -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 6,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 40,
        "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10},
    }
    assert anthropic.usage_of(usage) == Usage(145, 6, 100, 40, 10)


def test_bedrock() -> None:
    usage = {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 4}
    assert bedrock.usage_of(usage) == Usage(8, 2, 3, 4)


def test_gemini_counts_what_its_tools_read() -> None:
    usage: Json = {
        "promptTokenCount": 10,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
        "toolUsePromptTokenCount": 50,
        "cachedContentTokenCount": 6,
        "promptTokensDetails": [
            {"modality": "AUDIO", "tokenCount": 2},
            {"modality": "TEXT", "tokenCount": 8},
        ],
    }
    assert gemini_stream.usage_of(usage) == Usage(
        60, 7, cache_read_tokens=6, reasoning_tokens=4, audio_input_tokens=2, tool_use_tokens=50
    )
    said = {"total_input_tokens": 1, "total_output_tokens": 2, "total_tool_use_tokens": 3}
    found = interactions_stream.usage_of({"usage": {**said, "total_cached_tokens": 1}})
    assert found == Usage(4, 2, cache_read_tokens=1, tool_use_tokens=3)


def test_usage_adds_up_in_every_part() -> None:
    one = Usage(1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert reduce(Usage.plus, [one, one]) == Usage(2, 4, 6, 8, 10, 12, 14, 16, 18)


CREATED = b'data: {"type":"response.created","response":{"model":"m","status":"in_progress"}}\n\n'
ENDED = b'data: {"type":"response.completed","response":{"model":"m","status":"completed"}}\n\n'


@pytest.mark.parametrize(
    ("last", "error"), [(b"data: [DONE]\n\n", False), (b"data:[DONE]\n\n", False), (b"data: [OOPS\n\n", True)]
)
def test_a_done_after_a_response_is_no_error(last: bytes, *, error: bool) -> None:
    reader = responses_stream.Reader()
    for event in (CREATED, ENDED, last):
        reader.feed(event)
    assert reader.view().complete
    assert (reader.view().error is not None) is error


def test_a_done_alone_closes_no_response() -> None:
    reader = responses_stream.Reader()
    for event in (CREATED, b"data: [DONE]\n\n"):
        reader.feed(event)
    assert not reader.view().complete


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/v1beta/cachedContents", "other"), ("/v1beta/models/gemini-2.5-flash:generateContent", "llm")],
)
def test_a_stored_prefix_is_no_call_of_a_model(path: str, kind: str) -> None:
    body = {"model": "models/gemini-2.5-flash", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    request = Request(
        "POST",
        "https",
        "generativelanguage.googleapis.com",
        443,
        path,
        (("content-type", "application/json"),),
        json.dumps(body).encode(),
    )
    assert wire.classify(request).kind == kind
