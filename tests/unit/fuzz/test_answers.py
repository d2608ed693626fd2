"""Other shapes of a model's answer, and the events of a stream."""

from __future__ import annotations

import json

import pytest

from faultwire.fuzz.answers import documents, is_stream, shapes, with_document

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"order": 7}'}}
CHAT = {"choices": [{"message": {"content": "hi", "tool_calls": [CALL]}, "finish_reason": "stop"}]}
RESPONSES = {
    "status": "completed",
    "output": [{"type": "function_call", "name": "find", "arguments": "{}", "call_id": "c"}],
}
MESSAGES = {
    "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "name": "find", "input": {"order": 7}}],
    "stop_reason": "tool_use",
}
GEMINI = {
    "candidates": [
        {"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}, "finishReason": "STOP"}
    ]
}


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (CHAT, {"empty choices", "no choices", "choices null", "arguments [], the text", "nothing said"}),
        (RESPONSES, {"empty output", "status incomplete", "arguments null", "an unknown tool"}),
        (MESSAGES, {"empty content", "stop_reason max_tokens", "arguments null", 'arguments "text"'}),
        (GEMINI, {"empty candidates", "finishReason SAFETY", "arguments []"}),
    ],
    ids=["chat", "responses", "messages", "gemini"],
)
def test_each_api_has_its_shapes_and_all_are_json_and_differ(document, named):
    found = shapes(json.dumps(document))
    assert {name.removesuffix(", the text") for name in named} <= set(found)
    assert "an error" in found
    for text in found.values():
        assert json.loads(text) != document


def test_arguments_become_everything_but_an_object_of_the_tools():
    found = shapes(json.dumps(CHAT))
    made = {
        json.loads(text)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
        for name, text in found.items()
        if name.startswith("arguments")
    }
    assert made == {"", "{", "null", "[]", '"text"', "{}", "7"}
    unknown = json.loads(found["an unknown tool"])["choices"][0]["message"]["tool_calls"][0]["function"]
    assert unknown == {"name": "no_such_tool", "arguments": '{"order": 7}'}, "and nothing else changed"


@pytest.mark.parametrize("text", ["", "hello", "[1]", "null", '{"a"', "[" * 5000])
def test_what_is_no_object_has_no_shapes(text):
    assert shapes(text) == {}


STREAM = 'event: x\ndata: {"a": 1}\n\ndata: {"b": [2]}\n\ndata: [DONE]\n\n'


def test_documents_of_a_stream_by_line_and_one_replaced_stays_one_line():
    assert is_stream(STREAM)
    assert not is_stream('{"a": 1}')
    assert documents(STREAM) == [(1, '{"a": 1}'), (3, '{"b": [2]}')]
    made = with_document(STREAM, 3, '{\n"b": 3}')
    assert made == STREAM.replace('{"b": [2]}', '{ "b": 3}')
