"""faultwire.wire.openai.chat, and faultwire.wire.openai.chat_stream_edits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.shapes import CHAT, pack

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import ToolCall, ToolResult, Usage
from faultwire.wire.types import Rewrite

CHAT_WIRE = wire.protocol("openai_chat")


def view(*messages: dict[str, Any]) -> Any:
    return CHAT_WIRE.request_view(pack({"model": "m", "messages": list(messages)}))


def called(call_id: str, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def answered(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_the_request_view_is_complete() -> None:
    found = CHAT_WIRE.request_view(pack(CHAT))
    assert (found.model, found.stream, found.system, found.tools) == (
        "gpt-x",
        True,
        "Be brief.",
        ("weather",),
    )
    assert [turn.role for turn in found.turns] == ["user", "assistant", "tool", "tool"]
    assert found.turns[1].tool_calls[0] == ToolCall("c1", "weather", '{"city":"Paris"}')
    first, second = found.results
    path = ("messages", 3, "content")
    assert first == ToolResult("c1", "weather", '{"city":"Paris"}', '{"temp": 22}', False, path, True)
    assert (second.name, second.text, second.path) == ("calc", "4", ("messages", 4, "content"))


def test_only_results_after_the_last_assistant_message_are_new() -> None:
    found = view(called("a", "x"), answered("a", "1"), called("b", "y"), answered("b", "2"))
    assert [(r.name, r.new) for r in found.results] == [("x", False), ("y", True)]


def test_an_id_that_comes_again_means_the_last_call() -> None:
    found = view(called("0", "x"), answered("0", "1"), called("0", "y"), answered("0", "2"))
    assert [r.name for r in found.results] == ["x", "y"]


def test_a_result_without_its_call_has_the_name_it_brings_or_none() -> None:
    found = view({**answered("a", "1"), "name": "x"}, answered("b", None))
    assert [(r.name, r.text) for r in found.results] == [("x", "1"), (None, "")]


def test_custom_tools() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    document = {
        "messages": [{"role": "assistant", "tool_calls": [call]}],
        "tools": [{"type": "custom", "custom": {"name": "sql"}}],
    }
    found = CHAT_WIRE.request_view(pack(document))
    assert found.turns[0].tool_calls == (ToolCall("a", "sql", "select 1"),)
    assert found.tools == ("sql",)


def test_developer_messages_are_the_system_prompt() -> None:
    found = view(
        {"role": "system", "content": "a"}, {"role": "developer", "content": [{"type": "text", "text": "b"}]}
    )
    assert found.system == "a\nb"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"{}", b'{"messages": {}}', b"\xff", b'{"messages":[NaN]}']
)
def test_what_is_no_chat_request_raises(body: bytes) -> None:
    with pytest.raises(WireError):
        CHAT_WIRE.request_view(body)


def test_nonsense_inside_is_passed_over() -> None:
    found = view(
        {"role": 7, "content": 3},
        {"role": "assistant", "tool_calls": [{"function": 4}, 5, {"custom": None}]},
        {"role": "tool", "content": {"x": 1}},
    )
    assert [turn.role for turn in found.turns] == ["", "assistant", "tool"]
    assert found.results[0].name is None


def test_lone_surrogates_become_replacement_characters() -> None:
    body = rb'{"model": "m", "messages": [{"role": "user", "content": "a\ud800b \ud83d\ude00"}]}'
    assert CHAT_WIRE.request_view(body).turns[0].text == "a\ufffdb \U0001f600"


# ---------------------------------------------------------------- answers


def answer(**message: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 50, "total_tokens": 59}
    return pack({"id": "1", "model": "m", "choices": [choice], "usage": usage})


def test_response_view() -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}]
    found = CHAT_WIRE.response_view(200, answer(content="hi", tool_calls=calls))
    assert (found.model, found.text, found.finish_reason) == ("m", "hi", "stop")
    assert found.tool_calls == (ToolCall("a", "x", "{}"),)
    assert (found.usage, found.error, found.complete) == (Usage(9, 50), None, True)


def test_a_refusal_is_text() -> None:
    assert CHAT_WIRE.response_view(200, answer(content=None, refusal="No.")).text == "No."


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (429, {"error": {"message": "slow down"}}, "slow down"),
        (200, {"error": {"message": "in a 200"}}, "in a 200"),
        (400, {"object": "error", "message": "vllm"}, "vllm"),
        (500, {"error": "text"}, "text"),
        (500, {}, "status 500"),
    ],
)
def test_errors_are_reported(status: int, body: Any, error: str) -> None:
    assert CHAT_WIRE.response_view(status, pack(body)).error == error


def test_html_is_no_answer() -> None:
    with pytest.raises(WireError, match="no JSON"):
        CHAT_WIRE.response_view(502, b"<html>")


# ---------------------------------------------------------------- replacing a result


def replaced(content: Any, rewrite: Rewrite) -> Any:
    body = pack({"messages": [called("a", "x"), {**answered("a", content), "extra": 1.50}]})
    result = CHAT_WIRE.request_view(body).results[0]
    return json.loads(CHAT_WIRE.replace_result(body, result, rewrite))["messages"][1]["content"]


@pytest.mark.parametrize(
    ("content", "rewrite", "expected"),
    [
        ("plain", Rewrite("boom", True), "boom"),
        (None, Rewrite("boom"), "boom"),
        ('{"a": 1}', Rewrite("boom", True), '{"error":"boom"}'),
        ('{"a": 1}', Rewrite("boom"), '{"result":"boom"}'),
        ("[1]", Rewrite("boom"), '["boom"]'),
        ("[1]", Rewrite("boom", True), '{"error":"boom"}'),
        ('{"a": 1}', Rewrite('{"b": 2}'), '{"b": 2}'),
        ('{"a": 1}', Rewrite(""), "{}"),
        ("[]", Rewrite(""), "[]"),
        ("12", Rewrite("boom"), "boom"),
        ("{not json", Rewrite("boom"), "boom"),
        ([{"type": "text", "text": "x"}], Rewrite("boom"), [{"type": "text", "text": "boom"}]),
        ([{"type": "text", "text": "[1]"}], Rewrite("boom"), [{"type": "text", "text": '["boom"]'}]),
        ([], Rewrite("boom"), [{"type": "text", "text": "boom"}]),
    ],
)
def test_container_and_json_ness_are_kept(content: Any, rewrite: Rewrite, expected: Any) -> None:
    assert replaced(content, rewrite) == expected


def test_everything_else_is_kept_to_the_byte() -> None:
    body = (
        b'{ "messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]},'
        b'\n {"role":"tool", "content" :  "old\\u00e9" ,"tool_call_id":"a","x":1.50}],"model":"m", "n":1e3}'
    )
    result = CHAT_WIRE.request_view(body).results[0]
    new = CHAT_WIRE.replace_result(body, result, Rewrite("neu ✓"))
    assert new == body.replace(b'"old\\u00e9"', '"neu ✓"'.encode())


def test_a_missing_content_is_added() -> None:
    body = pack({"messages": [called("a", "x"), {"role": "tool", "tool_call_id": "a"}]})
    result = CHAT_WIRE.request_view(body).results[0]
    new = json.loads(CHAT_WIRE.replace_result(body, result, Rewrite("boom")))
    assert new["messages"][1] == {"role": "tool", "tool_call_id": "a", "content": "boom"}


def test_a_result_of_another_body_is_refused() -> None:
    result = CHAT_WIRE.request_view(pack(CHAT)).results[0]
    with pytest.raises(WireError, match="no result of call `c1`"):
        CHAT_WIRE.replace_result(
            pack({"messages": [called("a", "x"), answered("a", "1")]}), result, Rewrite("x")
        )


# ---------------------------------------------------------------- cutting short


def test_truncate_changes_text_finish_reason_and_usage_only() -> None:
    body = answer(content="one two three four", extra={"x": 1})
    new = CHAT_WIRE.truncate(body, 2)
    expected = json.loads(body)
    expected["choices"][0]["message"]["content"] = "one two"
    expected["choices"][0]["finish_reason"] = "length"
    expected["usage"] = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    assert json.loads(new) == expected
    assert new.startswith(body[: body.index(b" three")])


def test_truncate_leaves_short_answers_alone() -> None:
    body = answer(content="one two")
    assert CHAT_WIRE.truncate(body, 2) == body


def test_truncate_drops_calls_behind_the_cut_and_cuts_the_one_that_it_hits() -> None:
    def calls(*arguments: str) -> list[Any]:
        return [{"id": a, "type": "function", "function": {"name": "f", "arguments": a}} for a in arguments]

    both = answer(content="one", tool_calls=calls('{"a":1}', "{}"))
    kept = json.loads(CHAT_WIRE.truncate(both, 5))["choices"][0]
    assert kept["message"]["tool_calls"][0]["function"]["arguments"] == '{"a'
    assert (len(kept["message"]["tool_calls"]), kept["finish_reason"]) == (1, "length")
    none = json.loads(CHAT_WIRE.truncate(both, 1))["choices"][0]["message"]
    assert none == {"role": "assistant", "content": "one"}


def test_every_choice_has_its_own_budget() -> None:
    message = {"role": "assistant", "content": "one two three"}
    choices = [{"index": i, "message": message, "finish_reason": "stop"} for i in range(2)]
    usage = {"prompt_tokens": 1, "completion_tokens": 6, "total_tokens": 7}
    new = json.loads(CHAT_WIRE.truncate(pack({"choices": choices, "usage": usage}), 2))
    assert [c["message"]["content"] for c in new["choices"]] == ["one two", "one two"]
    assert new["usage"] == {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5}


def test_a_stream_is_the_text_of_its_deltas_whatever_else_they_hold() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    odd: tuple[Any, ...] = (
        None,
        7,
        [],
        {"delta": None},
        {"delta": []},
        {"index": 1, "delta": {"content": "x"}},
    )
    events: list[dict[str, Any]] = [
        {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        *({"choices": [one]} for one in odd),
        {"choices": None},
        {"choices": [{"delta": {"content": [{"type": "text", "text": "No"}], "tool_calls": None}}]},
        {"choices": [{"index": 0, "delta": {"refusal": ", I may not.", "content": None}}]},
        {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "x_groq": {"id": "g", "usage": usage},
        },
        {"choices": [], "x_groq": "none"},
    ]
    reader = CHAT_WIRE.reader()
    for event in events:
        reader.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    said = reader.view()
    assert (said.model, said.text, said.finish_reason) == ("m", "No, I may not.", "stop")
    assert (said.usage, said.request_id, said.error) == (Usage(3, 4), "g", None)
