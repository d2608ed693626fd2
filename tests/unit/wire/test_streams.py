"""faultwire.wire.openai.chat_stream and faultwire.wire.anthropic.stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.shapes import golden

from faultwire import wire
from faultwire.events import ResponseView, ToolCall, Usage
from faultwire.wire.framing import sse

NAMES = ("openai_chat", "anthropic")
SAID = {
    "openai_chat": ResponseView(
        "gpt-x",
        "Let me look.",
        "tool_calls",
        (ToolCall("call_a1", "get_weather", '{"city":"Paris"}'),),
        Usage(9, 12),
    ),
    "anthropic": ResponseView(
        "claude-x",
        "Let me look.",
        "tool_use",
        (ToolCall("toolu_1", "get_weather", '{"city": "Paris"}'),),
        Usage(9, 31),
    ),
}
CUT = {"openai_chat": "length", "anthropic": "max_tokens"}


def read(name: str, *events: bytes) -> ResponseView:
    reader = wire.protocol(name).reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def cut(name: str, max_tokens: int, *events: bytes) -> tuple[list[bytes], bool]:
    editor = wire.protocol(name).truncator(max_tokens)
    out = [piece for event in events for piece in editor.feed(event)]
    return [*out, *editor.finish()], editor.changed


def chunk(*, usage: Any = None, finish: str | None = None, index: int = 0, **delta: Any) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return sse.write(json.dumps({"choices": [choice], "usage": usage}).encode())


@pytest.mark.parametrize("name", NAMES)
def test_golden_stream_is_read(name: str) -> None:
    assert read(name, *sse.events(golden(name))) == SAID[name]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_last_event_is_terminal(name: str) -> None:
    events = sse.events(golden(name))
    assert [wire.protocol(name).is_terminal(event) for event in events] == [False] * (len(events) - 1) + [
        True
    ]


@pytest.mark.parametrize("name", NAMES)
def test_without_its_end_a_stream_is_incomplete(name: str) -> None:
    last = 3 if name == "openai_chat" else 1  # the reason why it stopped is enough there
    found = read(name, *sse.events(golden(name))[:-last])
    assert (found.complete, found.text) == (False, "Let me look.")


@pytest.mark.parametrize("name", NAMES)
def test_malformed_events_are_reported_and_passed_over(name: str) -> None:
    found = read(name, b": comment\n\n", b"data: {oops\n\n", b"data: []\n\n", *sse.events(golden(name)))
    assert found.text == "Let me look."
    assert found.error is not None
    assert "no JSON" in found.error


def test_in_band_errors_are_reported() -> None:
    openai = b'data: {"error":{"message":"server died","type":"server_error"}}\n\n'
    assert read("openai_chat", openai).error == "server died"
    anthropic = (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )
    assert read("anthropic", anthropic).error == "Overloaded"


def test_calls_without_index_begin_with_their_id() -> None:
    def piece(arguments: str, **more: str) -> bytes:
        return chunk(tool_calls=[{"function": {"name": "f", "arguments": arguments}, **more}])

    found = read("openai_chat", piece("{", id="a"), piece("}"), piece("[]", id="b"))
    assert found.tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "f", "[]"))


def test_a_second_choice_is_not_the_answer() -> None:
    found = read("openai_chat", chunk(content="a"), chunk(index=1, content="b", finish="stop"))
    assert (found.text, found.finish_reason) == ("a", None)


# ---------------------------------------------------------------- cutting short


@pytest.mark.parametrize("name", NAMES)
def test_a_big_budget_changes_nothing(name: str) -> None:
    events = sse.events(golden(name))
    assert cut(name, 100, *events) == (events, False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", range(1, 12))
def test_a_cut_stream_is_whole_and_agrees_with_itself(name: str, budget: int) -> None:
    events, changed = cut(name, budget, *sse.events(golden(name)))
    found = read(name, *events)
    assert (found.complete, found.error) == (True, None)
    assert SAID[name].text.startswith(found.text)
    assert found.usage is not None
    if changed:
        assert found.finish_reason == CUT[name]
        assert found.usage.output_tokens == budget
    else:
        assert found == SAID[name]


def test_openai_keeps_framing_and_other_fields_to_the_byte() -> None:
    data = b'{ "x":1.50, "choices":[{"index":0,"delta":{"content":"one two three"}}]}'
    event = b": note\r\nid: 7\r\ndata: " + data + b"\r\n\r\n"
    (new,), changed = cut("openai_chat", 2, event)
    assert new == event.replace(b" three", b"")
    assert changed


def test_openai_drops_what_is_left_empty_and_keeps_role_finish_and_usage() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 9, "total_tokens": 10}
    events = [
        chunk(role="assistant", content="one two"),
        chunk(content=" three"),
        chunk(content=" four", finish="stop"),
        chunk(usage=usage),
        b"data: [DONE]\n\n",
    ]
    out, _ = cut("openai_chat", 1, *events)
    first, last, counted, done = out
    assert b'"content":"one"' in first.replace(b": ", b":")
    assert json.loads(last[6:])["choices"] == [{"index": 0, "delta": {}, "finish_reason": "length"}]
    assert json.loads(counted[6:])["usage"] == {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert done == events[-1]


def test_anthropic_drops_blocks_behind_the_cut_whole() -> None:
    out, _ = cut("anthropic", 2, *sse.events(golden("anthropic")))
    assert not any(b'"index":1' in event for event in out)
    assert sum(b"content_block_stop" in event for event in out) == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_no_client_can_read_is_passed_on(name: str) -> None:
    strange = [b"data: {oops\n\n", b": ping\n\n", b"\n", b'data: {"choices":[7],"delta":3,"type":[]}\n\n']
    assert cut(name, 1, *strange) == (strange, False)
