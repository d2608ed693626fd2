"""faultwire.wire.openai.usage, and what the other protocols count."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import reduce
from typing import Any

import pytest
from tests.unit.wire.shapes import post

from faultwire import wire
from faultwire.events import Delivery, Recorded, Request, Usage
from faultwire.wire.anthropic import stream as anthropic
from faultwire.wire.bedrock import stream as bedrock
from faultwire.wire.cohere import stream as cohere
from faultwire.wire.google import gemini_stream, interactions_stream
from faultwire.wire.openai import responses_stream
from faultwire.wire.openai.usage import chat_usage, responses_usage
from faultwire.wire.transcript import prices

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
    whole = {"prompt_tokens": 3, "completion_tokens": 0}
    assert chat_usage({**whole, "prompt_tokens_details": None}) == Usage(3, 0)
    for part in whole:
        assert chat_usage({name: n for name, n in whole.items() if name != part}) is None, "not 0: unknown"
        assert chat_usage({**whole, part: None}) is None


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


def test_tools_that_a_search_loaded_are_no_result_of_a_tool() -> None:
    """`tool_search_output` has `tools` and no `output`; nothing there could be replaced as a result."""
    loaded = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "status": "completed"}
    tools = [{"type": "function", "name": "refund", "parameters": {}}, {"type": "function", "name": "find"}]
    asked = {
        "model": "gpt-x",
        "tools": [{"type": "tool_search"}, {"type": "function", "name": "find"}],
        "input": [
            {"role": "user", "content": "A refund, please."},
            {"type": "tool_search_call", "call_id": "c1", "arguments": {"goal": "refund"}},
            {**loaded, "tools": tools},
            {"type": "function_call", "call_id": "c2", "name": "refund", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": "done"},
        ],
    }
    view = wire.protocol("openai_responses").request_view(json.dumps(asked).encode())
    assert view.tools == ("tool_search", "find", "refund"), "what was loaded can be called"
    results = [result for turn in view.turns for result in turn.tool_results]
    assert [(result.call_id, result.text) for result in results] == [("c2", "done")]
    assert any(turn.role == "tool" and '"refund"' in turn.text for turn in view.turns)
    empty = {**asked, "input": [{**loaded, "tools": None}]}
    assert wire.protocol("openai_responses").request_view(json.dumps(empty).encode()).tools == (
        "tool_search",
        "find",
    )


@pytest.mark.parametrize(
    ("url", "model", "dollars"),
    [
        ("https://api.openai.com/v1/chat/completions", "gpt-4o", "12.5"),
        ("https://api.groq.com/openai/v1/chat/completions", "openai/gpt-oss-120b", "groq"),
        ("https://openrouter.ai/api/v1/chat/completions", "openai/gpt-4o", "openrouter"),
        ("https://me.openai.azure.com/openai/v1/chat/completions", "gpt-4o", None),
        ("https://api.cerebras.ai/v1/chat/completions", "gpt-4o", None),
        ("https://api.deepseek.com/chat/completions", "gpt-4o", None),
        ("https://gateway.example/v1/chat/completions", "gpt-4o", None),
        ("https://api.cerebras.ai/v1/chat/completions", "gpt-oss-120b", "cerebras"),
        ("https://me.openai.azure.com/openai/v1/chat/completions", "gpt-oss-120b", None),
    ],
)
def test_a_model_has_the_price_of_the_vendor_that_serves_it(
    url: str, model: str, dollars: str | None
) -> None:
    request = post(url, {"model": model, "messages": [{"role": "user", "content": "hi"}]})
    found = wire.classify(request)
    assert found.protocol is not None
    answer = {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000},
    }
    made = Delivery(200, "OK", (("content-type", "application/json"),), json.dumps(answer).encode())
    recorded = Recorded(
        "s", 1, found.kind, found.protocol.name, found.provider, None, request, made, made,
        "complete", None, 0, 0, 9.0,
    )  # fmt: skip
    transcript = wire.transcript_of(recorded)
    assert transcript is not None
    if dollars is None:
        assert (transcript.cost, transcript.prices_as_of) == (None, None)
    elif dollars[0].isdigit():
        assert transcript.cost == Decimal(dollars)
    else:
        (listed,) = (price for name, price in prices.builtin().models[dollars].items() if name == model)
        assert transcript.cost == listed.input + listed.output, "its own entry, whatever OpenAI charges"
    only_openai = prices.Prices("2026-01-01", {"openai": prices.builtin().models["openai"]})
    elsewhere = wire.transcript_of(recorded, only_openai)
    assert elsewhere is not None
    assert (elsewhere.cost is None) is ("api.openai.com" not in url)


BILLED = {"input_tokens": 4, "output_tokens": 12.0}
READ = {"input_tokens": 71, "output_tokens": 12}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"billed_units": BILLED, "tokens": READ}, Usage(4, 12)),
        ({"tokens": READ}, Usage(71, 12)),
        ({"billed_units": BILLED, "cached_tokens": 3}, Usage(4, 12, cache_read_tokens=3)),
        ({"billed_units": {"search_units": 1}}, None),
        ({"billed_units": {"images": 2}, "tokens": None}, None),
        ({"billed_units": {"input_tokens": float("inf")}}, None),
        ({"billed_units": {"input_tokens": "4"}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_cohere_counts_what_it_bills(usage: Any, counted: Usage | None) -> None:
    """Its own words around a prompt are read, and not billed: their price would be a false cost."""
    assert cohere.usage_of(usage) == counted
    table = prices.builtin()
    if counted == Usage(4, 12):
        assert table.cost("cohere", "command-a-03-2025", counted) == Decimal("0.00013")
    if counted is not None and counted.cache_read_tokens:
        assert table.cost("cohere", "command-a-03-2025", counted) is None, (
            "no price of cached tokens is known"
        )


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        ({"prompt_eval_count": 9, "eval_count": 3}, Usage(9, 3)),
        ({"eval_count": 3}, None),
        ({"embeddings": [[1.0]], "prompt_eval_count": 9}, Usage(9, 0)),
        ({"embeddings": [[1.0]]}, None),
    ],
)
def test_ollama_counts_the_prompt_or_nothing(answer: Json, counted: Usage | None) -> None:
    """A prompt that it kept was not counted by older versions; 0 tokens would be false."""
    said = {"model": "qwen3:8b", "done": True, **answer}
    assert wire.protocol("ollama").response_view(200, json.dumps(said).encode()).usage == counted


def test_a_local_model_costs_unknown_until_a_table_lists_it() -> None:
    table = prices.builtin()
    assert table.cost("ollama", "qwen3:8b", Usage(9, 3)) is None
    free = prices.Prices("2026-01-01", {"ollama": {"qwen3": prices.Price(Decimal(0), Decimal(0))}})
    assert free.over(table).cost("ollama", "qwen3:8b", Usage(9, 3)) == 0
    assert free.over(table).cost("ollama", "llama3.2", Usage(9, 3)) is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 5, "total_tokens": 5}, Usage(5, 0)),
        ({"total_tokens": 5}, Usage(5, 0)),
        ({}, None),
        ({"prompt_tokens": None}, None),
        (None, None),
    ],
)
def test_embeddings_count_what_was_read(usage: Any, counted: Usage | None) -> None:
    answer = {"object": "list", "data": [], "model": "text-embedding-3-small", "usage": usage}
    view = wire.protocol("embeddings").response_view(200, json.dumps(answer).encode())
    assert view.usage == counted
    cost = prices.builtin().cost("openai", view.model, view.usage)
    assert cost == (None if counted is None else Decimal("0.0000001"))


@pytest.mark.parametrize("path", ["/v2/rerank", "/v1/rerank"])
def test_a_reranker_is_no_model_that_counts_tokens(path: str) -> None:
    asked = {"model": "rerank-v3.5", "query": "q", "documents": ["d"]}
    assert wire.classify(post(f"https://api.cohere.com{path}", asked)).kind == "other"
