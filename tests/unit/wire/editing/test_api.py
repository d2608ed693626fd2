"""Changes of answers: only what is meant changes, whole and streamed alike, in both protocols."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.wire.shapes import CHAT, MESSAGES, golden, pack

from faultwire import wire
from faultwire.events import ResponseView, ToolCall
from faultwire.wire.anthropic.edits import AnthropicEditor
from faultwire.wire.anthropic.stream_edits import AnthropicStreamEditor
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.api import Change, Editor, Finish
from faultwire.wire.framing import sse
from faultwire.wire.openai.chat_edits import OpenAIEditor

NAMES = ("openai_chat", "anthropic")
CALL = ToolCall("call_1", "weather", '{"city":"Paris"}')

BODIES: dict[str, bytes] = {
    "openai_chat": b'{"id": "c", "zzz": 1.50, "choices": [{"index": 0, "message": {"role": "assistant", '
    b'"content": "Let me look.", "extra": [1,2], "tool_calls": [{"id": "call_1", "type": "function", '
    b'"function": {"name": "weather", "arguments": "{\\"city\\":\\"Paris\\"}"}}]}, "finish_reason": '
    b'"tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10}}',
    "anthropic": b'{"id": "m", "zzz": 1.50, "type": "message", "role": "assistant", "content": [{"type": '
    b'"thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Let me look."}, {"type": '
    b'"tool_use", "id": "call_1", "name": "weather", "input": {"city":"Paris"}}], "stop_reason": "tool_use", '
    b'"usage": {"input_tokens": 3, "output_tokens": 7}}',
}
STREAMS = {"openai_chat": golden("openai_chat"), "anthropic": golden("anthropic")}


def whole(name: str, change: Change) -> ResponseView:
    return wire.protocol(name).response_view(200, wire.protocol(name).edits.change(BODIES[name], change))


def streamed(name: str, change: Change) -> tuple[ResponseView, list[bytes], bool]:
    protocol = wire.protocol(name)
    editor, reader = protocol.edits.stream_editor(change), protocol.reader()
    assert editor is not None
    out = [told for event in sse.events(STREAMS[name]) for told in editor.feed(event)]
    out += editor.finish()
    for event in out:
        reader.feed(event)
    return reader.view(), out, editor.changed


def original(name: str) -> ResponseView:
    reader = wire.protocol(name).reader()
    for event in sse.events(STREAMS[name]):
        reader.feed(event)
    return reader.view()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [Change(), Change(text=str, calls=tuple), Change(finish="tool_calls")])
def test_a_change_that_changes_nothing_keeps_every_byte(name: str, change: Change) -> None:
    assert wire.protocol(name).edits.change(BODIES[name], change) == BODIES[name]
    view, out, changed = streamed(name, change)
    assert view == original(name)
    assert not changed
    assert b"".join(sorted(out)) == b"".join(sorted(sse.events(STREAMS[name])))


@pytest.mark.parametrize("name", NAMES)
def test_text_is_replaced_and_nothing_else(name: str) -> None:
    change = Change(text=lambda text: text.upper())
    protocol = wire.protocol(name)
    assert protocol.edits.change(BODIES[name], change) == BODIES[name].replace(
        b"Let me look.", b"LET ME LOOK."
    )
    before = original(name)
    view, _, changed = streamed(name, change)
    assert view == replace(before, text=before.text.upper())
    assert changed


@pytest.mark.parametrize("name", NAMES)
def test_text_may_go_or_come(name: str) -> None:
    before = original(name)
    assert whole(name, Change(text=lambda _: "")).text == ""
    assert streamed(name, Change(text=lambda _: ""))[0] == replace(before, text="")
    silent = wire.protocol(name).edits.change(BODIES[name], Change(text=lambda _: ""))
    spoken = wire.protocol(name).edits.change(silent, Change(text=lambda _: "new"))
    assert wire.protocol(name).response_view(200, spoken).text == "new"


@pytest.mark.parametrize("name", NAMES)
def test_a_call_is_changed_added_and_dropped(name: str) -> None:
    def renamed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        return tuple(replace(call, name="other") for call in calls)

    def doubled(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        return tuple(copy for call in calls for copy in (call, replace(call, id=call.id + "x")))

    before = original(name)
    assert before.tool_calls, "the recorded stream makes a call"
    for function, names in ((renamed, 1), (doubled, 2)):
        told = whole(name, Change(calls=function)).tool_calls
        assert told == function((CALL,))
        assert len(told) == names
        view, _, changed = streamed(name, Change(calls=function))
        assert sorted(c.id for c in view.tool_calls) == sorted(c.id for c in function(before.tool_calls))
        assert view.text == before.text
        assert changed
    assert whole(name, Change(calls=lambda _: ())).tool_calls == ()
    gone, out, _ = streamed(name, Change(calls=lambda _: ()))
    assert gone == replace(before, tool_calls=())
    assert len(out) < len(sse.events(STREAMS[name]))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_may_be_no_json(name: str) -> None:
    broken = Change(calls=lambda calls: tuple(replace(c, arguments='{"city": "Par') for c in calls))
    view, _, _ = streamed(name, broken)
    assert all(call.arguments == '{"city": "Par' for call in view.tool_calls)
    body = json.loads(wire.protocol(name).edits.change(BODIES[name], broken))
    assert body["zzz"] == 1.5


@pytest.mark.parametrize(
    ("name", "finish", "word"),
    [
        ("openai_chat", "stop", "stop"),
        ("openai_chat", "refusal", "stop"),
        ("openai_chat", "content_filter", "content_filter"),
        ("anthropic", "stop", "end_turn"),
        ("anthropic", "length", "max_tokens"),
        ("anthropic", "content_filter", "refusal"),
    ],
)
def test_the_finish_reason_is_the_protocols_word(name: str, finish: Finish, word: str) -> None:
    assert whole(name, Change(finish=finish)).finish_reason == word
    assert streamed(name, Change(finish=finish))[0] == replace(original(name), finish_reason=word)


@pytest.mark.parametrize("name", NAMES)
def test_usage_goes(name: str) -> None:
    assert whole(name, Change(drop_usage=True)).usage is None
    assert streamed(name, Change(drop_usage=True))[0] == replace(original(name), usage=None)


def test_a_refusal_is_declared_where_the_protocol_does() -> None:
    change = Change(text=lambda _: "No.", calls=lambda _: (), finish="refusal", refuse=True)
    message = json.loads(OpenAIEditor().change(BODIES["openai_chat"], change))["choices"][0]["message"]
    assert (message["refusal"], message["content"]) == ("No.", None)
    _, out, _ = streamed("openai_chat", change)
    assert b'"refusal":"No."' in b"".join(out).replace(b'": "', b'":"')


def test_a_last_piece_that_comes_with_the_stop_is_sent_before_it() -> None:
    event = sse.write(b'{"choices":[{"index":0,"delta":{"content":"all"},"finish_reason":"stop"}]}')
    editor = OpenAIEditor().stream_editor(Change(text=lambda text: text + "!"))
    out = [*editor.feed(event), *editor.feed(b"data: [DONE]\n\n")]
    reader = wire.protocol("openai_chat").reader()
    for told in out:
        reader.feed(told)
    assert (reader.view().text, reader.view().finish_reason) == ("all!", "stop")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 3, 4])
def test_a_stream_that_breaks_off_is_left_as_it_came(name: str, count: int) -> None:
    editor = wire.protocol(name).edits.stream_editor(Change(text=lambda _: "x", calls=lambda _: ()))
    assert editor is not None
    events = sse.events(STREAMS[name])[:count]
    told = [out for event in events for out in editor.feed(event)]
    told += editor.finish()
    assert sorted(told) == sorted(events)


def test_blocks_are_numbered_without_gaps() -> None:
    editor = AnthropicStreamEditor(Change(text=lambda _: ""))
    out = [told for event in sse.events(STREAMS["anthropic"]) for told in editor.feed(event)]
    indexes = [json.loads(f.data)["index"] for e in out if (f := sse.fields(e)) and b'"index"' in f.data]
    assert sorted(set(indexes)) == list(range(len(set(indexes))))


# ---------------------------------------------------------------- requests


@pytest.mark.parametrize(("name", "request_"), [("openai_chat", CHAT), ("anthropic", MESSAGES)])
def test_texts_of_a_request_are_found_and_replaced_one_by_one(name: str, request_: dict[str, Any]) -> None:
    edits, body = wire.protocol(name).edits, pack(request_)
    texts = edits.texts(body)
    assert texts[0].role == "system"
    assert next(t.text for t in texts if t.role == "user") == "Weather in Paris, and 2+2?"
    assert [t.text for t in texts if t.role == "tool"] == ['{"temp": 22}', "4"]
    assert {t.new for t in texts if t.role == "tool"} == {True}
    assert not any(t.new for t in texts if t.role == "system")
    for place in texts:
        changed = edits.rewrite_texts(body, {place.path: "§§"})
        assert changed == body.replace(pack(place.text), pack("§§").replace(b"\\u00a7", "§".encode()), 1) or (
            [t.text for t in edits.texts(changed)].count("§§") == 1
        )
    assert edits.rewrite_texts(body, {}) == body


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["overloaded", "quota_exceeded", "context_length", "content_filter"])
def test_named_failures_are_the_providers_errors(name: str, what: Any) -> None:
    protocol = wire.protocol(name)
    answer = protocol.edits.failure(what, message=None)
    assert answer is not None
    assert answer.body is not None
    assert answer.status >= 400
    assert protocol.response_view(answer.status, answer.body).error
    told = protocol.edits.failure(what, message="mine")
    assert told is not None
    assert protocol.response_view(told.status, told.body or b"").error == "mine"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["overloaded", "server_error"])
def test_an_error_inside_a_stream_is_read_as_one(name: str, what: Any) -> None:
    protocol = wire.protocol(name)
    event = protocol.edits.error_event(what, "broke")
    assert event is not None
    reader = protocol.reader()
    reader.feed(event)
    assert reader.view().error == "broke"


def test_the_base_supports_nothing() -> None:
    edits = Editor()
    assert not any(edits.can(a) for a in ("answer", "texts", "failure", "error_event"))  # type: ignore[arg-type]
    assert edits.change(b"{}", Change(text=str.upper)) == b"{}"
    assert (edits.stream_editor(Change()), edits.texts(b"{}"), edits.failure("overloaded")) == (
        None,
        (),
        None,
    )
    assert edits.rewrite_texts(b"{}", {}) == b"{}"
    assert edits.error_event("overloaded", None) is None
    assert edits.numbered(b"data: {}", 3) == b"data: {}", "most protocols count no events"
    assert AnthropicEditor().can("answer")


def test_pieces_join_to_the_text() -> None:
    assert shared_edits.pieces("abcde", 2) == ["abc", "de"]
    assert shared_edits.pieces("ab", 5) == ["a", "b"]
    assert "".join(shared_edits.pieces("a" * 17, 5)) == "a" * 17
