"""faultwire.wire.google.interactions, with faultwire.wire.google.interactions_stream and
faultwire.wire.google.interactions_edits. What holds for every protocol is in `test_providers.py`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.wire.provider_shapes import INTERACTIONS
from tests.unit.wire.shapes import pack, post

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolCall
from faultwire.exchange.session_state import SessionState
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import sse
from faultwire.wire.types import Rewrite

PROTOCOL = wire.protocol("interactions")
EVENTS = sse.events(INTERACTIONS.stream)
DONE = b"event: done\ndata: [DONE]\n\n"
URL = "https://generativelanguage.googleapis.com/v1beta/interactions"


def heard(*events: bytes) -> ResponseView:
    reader = PROTOCOL.reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def changed(change: Change, *events: bytes) -> tuple[bytes, ...]:
    editor = PROTOCOL.edits.stream_editor(change)
    assert editor is not None
    out = [piece for event in events or EVENTS for piece in editor.feed(event)]
    out += editor.finish()
    assert editor.changed == (tuple(out) != (events or tuple(EVENTS)))
    return tuple(out)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("hi", "hi"),
        ({"type": "text", "text": "hi"}, "hi"),
        ([{"type": "text", "text": "a"}, {"type": "image", "data": ""}], "a"),
        ([{"type": "user_input", "content": [{"type": "text", "text": "b"}]}], "b"),
    ],
)
def test_every_form_of_input_is_read_and_can_be_rewritten(asked: Any, text: str) -> None:
    body = pack({"model": "m", "input": asked})
    view = PROTOCOL.request_view(body)
    assert [(turn.role, turn.text) for turn in view.turns] == [("user", text)]
    (place,) = PROTOCOL.edits.texts(body)
    assert (place.role, place.text, place.new) == ("user", text, True)
    again = PROTOCOL.request_view(PROTOCOL.edits.rewrite_texts(body, {place.path: "other"}))
    assert again.turns[0].text == "other"


def test_texts_are_listed_by_role() -> None:
    told = {place.text: (place.role, place.new) for place in PROTOCOL.edits.texts(pack(INTERACTIONS.request))}
    assert told["Be brief."] == ("system", False)
    assert told["Weather in Paris, and 2+2?"] == ("user", False)
    assert told["4"] == ("tool", True)


def test_a_request_that_only_continues_names_its_tools_by_the_response_before() -> None:
    state = SessionState()
    state.learn(PROTOCOL.response_view(200, pack(INTERACTIONS.whole)).tool_calls)
    asked = {
        "model": "m",
        "previous_interaction_id": "v1_abc",
        "input": [{"type": "function_result", "call_id": "fc1", "result": "22"}],
    }
    view = PROTOCOL.request_view(pack(asked))
    assert [(result.name, result.new) for result in view.results] == [(None, True)]
    (named,) = state.with_tool_names(view).results
    assert (named.name, named.arguments, named.text) == ("get_weather", '{"city":"Paris"}', "22")
    assert PROTOCOL.keeps(post(URL, asked))
    assert not PROTOCOL.keeps(post(URL, {**asked, "store": False}))


def test_an_error_is_recognised_by_the_flag_of_its_own() -> None:
    body = pack({"model": "m", "input": [{"type": "function_result", "call_id": "c", "result": "22"}]})
    (result,) = PROTOCOL.request_view(body).results
    new = json.loads(PROTOCOL.replace_result(body, result, Rewrite("no", is_error=True)))
    assert new["input"][0] == {"type": "function_result", "call_id": "c", "result": "no", "is_error": True}
    with pytest.raises(WireError):
        PROTOCOL.replace_result(body, replace(result, call_id="other"), Rewrite("no"))


def test_the_mark_behind_the_last_event_is_no_word() -> None:
    assert heard(*EVENTS, DONE) == heard(*EVENTS)
    assert PROTOCOL.is_terminal(DONE)
    assert list(PROTOCOL.truncator(1).feed(DONE)) == [DONE]


def test_what_goes_on_has_no_reason_to_end() -> None:
    reasons = [heard(*EVENTS[: n + 1]).finish_reason for n in range(len(EVENTS))]
    ends = next(n for n, event in enumerate(EVENTS) if b"status_update" in event)
    assert reasons == [None] * ends + ["requires_action"] * (len(EVENTS) - ends)
    begun = PROTOCOL.response_view(200, pack({**INTERACTIONS.whole, "status": "in_progress"}))
    assert (begun.finish_reason, begun.complete) == (None, False)
    whole = PROTOCOL.response_view(200, pack(INTERACTIONS.whole))
    assert (whole.finish_reason, whole.complete) == ("requires_action", True)


def test_a_stream_that_has_everything_in_its_last_event_is_read() -> None:
    whole = {**INTERACTIONS.whole}
    last = sse.write(pack({"event_type": "interaction.completed", "interaction": whole}))
    found = heard(last)
    assert (found.text, found.tool_calls, found.complete) == (INTERACTIONS.text, INTERACTIONS.calls, True)
    (cut,) = PROTOCOL.truncator(2).feed(last)
    assert heard(cut) == found  # nothing was cut before it
    editor = PROTOCOL.truncator(2)
    out = [piece for event in (*EVENTS[:-1], last) for piece in editor.feed(event)]
    assert heard(out[-1]).text == "Let me"


def test_an_error_inside_a_stream_is_reported() -> None:
    event = PROTOCOL.edits.error_event("overloaded", None)
    assert event is not None
    found = heard(*EVENTS[:3], event)
    assert (found.error, found.complete) == ("The model is overloaded. Please try again later.", False)
    other = PROTOCOL.edits.error_event("server_error", "boom")
    assert other is not None
    assert heard(other).error == "boom"
    failed = PROTOCOL.response_view(200, pack({"id": "x", "status": "failed", "errors": [{"code": "c"}]}))
    assert failed.error == "c"


# ---------------------------------------------------------------- changes


OTHER = ToolCall("fc1", "get_weather", '{"city":"Rome"}')
MORE = ToolCall("fc2", "launch", "{}")
CHANGES = {
    "text": Change(text=str.upper),
    "no text": Change(text=lambda _: ""),
    "call": Change(calls=lambda _: (OTHER,)),
    "two calls": Change(calls=lambda old: (*old, MORE)),
    "no call": Change(calls=lambda _: ()),
    "both": Change(text=str.upper, calls=lambda _: (OTHER, MORE), finish="stop"),
    "finish": Change(finish="length"),
    "usage": Change(drop_usage=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_stream_agrees_with_the_changed_answer(name: str) -> None:
    change = CHANGES[name]
    whole = PROTOCOL.response_view(200, PROTOCOL.edits.change(pack(INTERACTIONS.whole), change))
    streamed = heard(*changed(change))
    assert streamed == replace(whole, model=streamed.model)
    before = heard(*EVENTS)
    assert whole.text == (change.text(before.text) if change.text else before.text)
    assert whole.tool_calls == (change.calls(before.tool_calls) if change.calls else before.tool_calls)
    assert (whole.usage is None) is change.drop_usage
    assert whole.finish_reason == {"stop": "completed", "length": "incomplete"}.get(
        change.finish or "", before.finish_reason
    )


@pytest.mark.parametrize("name", CHANGES)
def test_steps_are_numbered_and_thoughts_stay(name: str) -> None:
    out = changed(CHANGES[name])
    told = [json.loads(fields.data) for event in out if (fields := sse.fields(event))]
    starts = [event["index"] for event in told if event["event_type"] == "step.start"]
    assert starts == list(range(len(starts)))
    assert any(event.get("delta", {}).get("type") == "thought_signature" for event in told)


def test_nothing_is_changed_where_all_is_as_wanted() -> None:
    same = Change(text=lambda text: text, calls=lambda calls: calls, finish="length", finish_was="stop")
    assert PROTOCOL.edits.change(pack(INTERACTIONS.whole), same) == pack(INTERACTIONS.whole)
    assert list(changed(same)) == EVENTS


def test_a_stream_that_breaks_off_is_left_as_it_came() -> None:
    assert changed(CHANGES["both"], *EVENTS[:7]) == tuple(EVENTS[:7])


def test_a_call_whose_arguments_are_no_json_stays_a_call() -> None:
    change = Change(calls=lambda old: tuple(replace(call, arguments="{oops") for call in old))
    whole = json.loads(PROTOCOL.edits.change(pack(INTERACTIONS.whole), change))
    assert whole["steps"][2]["arguments"] == "{oops"
    assert heard(*changed(change)).tool_calls[0].arguments == "{oops"
