"""faultwire.wire.anthropic.messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.shapes import MESSAGES, pack

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import ToolCall, ToolResult, Usage
from faultwire.wire.types import Rewrite

WIRE = wire.protocol("anthropic")


def test_the_request_view_is_complete() -> None:
    found = WIRE.request_view(pack(MESSAGES))
    assert (found.model, found.stream, found.system) == ("claude-x", False, "Be brief.")
    assert found.tools == ("weather", "web")
    assert [(turn.role, turn.text) for turn in found.turns] == [
        ("user", "Weather in Paris, and 2+2?"),
        ("assistant", "Let me see."),
        ("user", "Go on."),
    ]
    assert found.turns[1].tool_calls[0] == ToolCall("t1", "weather", '{"city":"Paris"}')
    first, second = found.results
    path = ("messages", 2, "content", 0, "content")
    assert first == ToolResult("t1", "weather", '{"city":"Paris"}', '{"temp": 22}', False, path, True)
    assert (second.name, second.text, second.path[3]) == ("calc", "4", 1)


def test_results_before_the_last_assistant_message_are_old() -> None:
    later = [
        *MESSAGES["messages"],
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "ok"},
    ]
    assert [r.new for r in WIRE.request_view(pack({"messages": later})).results] == [False, False]


def test_a_delta_of_a_thread_has_results_without_names() -> None:
    block = {"type": "tool_result", "tool_use_id": "t9", "content": "x", "is_error": True}
    found = WIRE.request_view(pack({"messages": [{"role": "user", "content": [block]}]}))
    assert [(r.name, r.is_error) for r in found.results] == [(None, True)]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": "x"}'])
def test_what_is_no_request_raises(body: bytes) -> None:
    with pytest.raises(WireError):
        WIRE.request_view(body)


def test_documents_and_search_results_count_as_text() -> None:
    blocks = [
        {"type": "search_result", "title": "t", "content": [{"type": "text", "text": "a"}]},
        {"type": "document", "source": {"type": "text", "data": "b"}},
        {"type": "document", "source": {"type": "content", "content": "c"}},
        {"type": "document", "source": {"type": "base64", "data": "AA=="}},
    ]
    block = {"type": "tool_result", "tool_use_id": "t", "content": blocks}
    found = WIRE.request_view(pack({"messages": [{"role": "user", "content": [block]}]}))
    assert found.results[0].text == "a\nb\nc"


def answer(*content: Any, **more: Any) -> bytes:
    usage = {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 50}
    message = {"type": "message", "model": "m", "content": list(content), "stop_reason": "end_turn"}
    return pack({**message, "stop_sequence": None, "usage": usage, **more})


def test_response_view() -> None:
    call = {"type": "tool_use", "id": "t", "name": "x", "input": {"a": 1}}
    found = WIRE.response_view(
        200, answer({"type": "text", "text": "a"}, {"type": "text", "text": "b"}, call)
    )
    assert (found.model, found.text, found.finish_reason) == ("m", "ab", "end_turn")
    assert found.tool_calls == (ToolCall("t", "x", '{"a":1}'),)
    assert (found.usage, found.error) == (Usage(12, 50, cache_read_tokens=3), None)


def test_errors_are_reported() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert WIRE.response_view(529, pack(body)).error == "Overloaded"
    assert WIRE.response_view(500, b"{}").error == "status 500"


# ---------------------------------------------------------------- replacing a result


def replaced(rewrite: Rewrite, **block: Any) -> Any:
    call = {"type": "tool_use", "id": "t", "name": "x", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", **block, "cache_control": {"type": "ephemeral"}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    body = pack({"messages": messages})
    new = WIRE.replace_result(body, WIRE.request_view(body).results[0], rewrite)
    changed = json.loads(new)["messages"][1]["content"][0]
    assert (changed.pop("type"), changed.pop("tool_use_id")) == ("tool_result", "t")
    assert changed.pop("cache_control") == {"type": "ephemeral"}
    return changed


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://x.example/i.png"}}


@pytest.mark.parametrize(
    ("block", "rewrite", "expected"),
    [
        ({"content": "x"}, Rewrite("boom", True), {"content": "boom", "is_error": True}),
        ({"content": "x"}, Rewrite("boom"), {"content": "boom"}),
        ({"content": "x", "is_error": True}, Rewrite("ok"), {"content": "ok", "is_error": False}),
        ({"content": '{"a":1}'}, Rewrite("boom", True), {"content": '{"error":"boom"}', "is_error": True}),
        ({}, Rewrite("boom"), {"content": "boom"}),
        (
            {"content": [IMAGE, {"type": "text", "text": "x"}]},
            Rewrite("boom"),
            {"content": [IMAGE, {"type": "text", "text": "boom"}]},
        ),
        (
            {
                "content": [
                    {"type": "text", "text": "x"},
                    IMAGE,
                    {"type": "text", "text": "y", "cache_control": 1},
                ]
            },
            Rewrite("boom"),
            {"content": [IMAGE, {"type": "text", "text": "boom", "cache_control": 1}]},
        ),
        ({"content": [IMAGE]}, Rewrite("boom"), {"content": [{"type": "text", "text": "boom"}, IMAGE]}),
        ({"content": [{"type": "text", "text": "x"}]}, Rewrite(""), {"content": []}),
        (
            {"content": [{"type": "search_result", "content": [{"type": "text", "text": "x"}]}]},
            Rewrite("boom"),
            {"content": [{"type": "text", "text": "boom"}]},
        ),
    ],
)
def test_only_the_words_change(block: Any, rewrite: Rewrite, expected: Any) -> None:
    assert replaced(rewrite, **block) == expected


def test_parallel_results_are_replaced_one_by_one() -> None:
    body = pack(MESSAGES)
    for result in WIRE.request_view(body).results:
        body = WIRE.replace_result(body, result, Rewrite(f"new {result.name}"))
    assert [r.text for r in WIRE.request_view(body).results] == ['{"result":"new weather"}', "new calc"]


def test_a_result_of_another_body_is_refused() -> None:
    result = WIRE.request_view(pack(MESSAGES)).results[1]
    other = {"messages": [*MESSAGES["messages"][:2], {"role": "user", "content": []}]}
    with pytest.raises(WireError, match="no result of call `t2`"):
        WIRE.replace_result(pack(other), result, Rewrite("x"))


# ---------------------------------------------------------------- cutting short


def test_truncate_changes_text_stop_reason_and_usage_only() -> None:
    body = answer({"type": "text", "text": "one two three"}, stop_reason="stop_sequence", stop_sequence="!")
    new = json.loads(WIRE.truncate(body, 2))
    expected = json.loads(body)
    expected["content"][0]["text"] = "one two"
    expected |= {"stop_reason": "max_tokens", "stop_sequence": None}
    expected["usage"]["output_tokens"] = 2
    assert new == expected


def test_truncate_leaves_short_answers_alone() -> None:
    body = answer({"type": "text", "text": "one two"})
    assert WIRE.truncate(body, 2) == body


def test_truncate_drops_what_comes_behind_the_cut_and_keeps_signed_thoughts() -> None:
    thought = {"type": "thinking", "thinking": "a b c d", "signature": "s"}
    call = {"type": "tool_use", "id": "t", "name": "x", "input": {"a": 1}}
    body = answer(thought, {"type": "text", "text": "one two"}, call, {"type": "text", "text": "late"})
    new = json.loads(WIRE.truncate(body, 3))
    assert new["content"] == [thought, {"type": "text", "text": "one two"}]
    assert new["stop_reason"] == "max_tokens"
