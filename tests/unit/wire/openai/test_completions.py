"""faultwire.wire.openai.completions, with faultwire.wire.openai.completions_edits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.shapes import pack

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolResult, Usage
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import sse
from faultwire.wire.types import Rewrite

PROTOCOL = wire.protocol("completions")
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def choice(text: str, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    return {"text": text, "index": index, "logprobs": None, "finish_reason": finish}


def chunk(*choices: dict[str, Any], **more: Any) -> bytes:
    told = {"id": "cmpl-1", "object": "text_completion", "model": "m", "choices": list(choices), **more}
    return sse.write(pack(told))


WHOLE = {
    "id": "cmpl-1",
    "object": "text_completion",
    "model": "m",
    "choices": [choice("Let me look.", "stop")],
    "usage": USAGE,
}
DONE = sse.write(b"[DONE]")
STREAM = (
    b": keep-alive\n\n",
    chunk(choice("Let me")),
    chunk(choice(" look.")),
    chunk(choice("", "stop")),
    chunk(usage=USAGE),
    DONE,
)
LLAMA = (chunk(choice("Let me")), chunk(choice(" look.", "stop"), usage=USAGE), DONE)
"""A server that stops with the last word."""


def heard(*events: bytes) -> ResponseView:
    reader = PROTOCOL.reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def changed(change: Change, *events: bytes) -> tuple[bytes, ...]:
    editor = PROTOCOL.edits.stream_editor(change)
    assert editor is not None
    out = tuple(piece for event in events for piece in editor.feed(event))
    out += tuple(editor.finish())
    assert editor.changed == (out != events)
    return out


@pytest.mark.parametrize(
    ("prompt", "texts"), [("a", ["a"]), (["a", "b"], ["a", "b"]), ([1, 2], []), ([[1], [2]], []), (None, [])]
)
def test_prompts_are_read_and_rewritten(prompt: Any, texts: list[str]) -> None:
    body = pack({"model": "m", "prompt": prompt, "stream": True})
    view = PROTOCOL.request_view(body)
    assert (view.model, view.stream) == ("m", True)
    assert [turn.text for turn in view.turns] == texts
    places = PROTOCOL.edits.texts(body)
    assert [place.text for place in places] == texts
    new = PROTOCOL.edits.rewrite_texts(body, {place.path: place.text + "!" for place in places})
    assert [turn.text for turn in PROTOCOL.request_view(new).turns] == [text + "!" for text in texts]


def test_without_a_prompt_it_is_something_else() -> None:
    with pytest.raises(WireError, match="prompt"):
        PROTOCOL.request_view(b'{"messages":[]}')
    nothing = ToolResult("c", None, "", "", is_error=False, path=("prompt",), new=True)
    with pytest.raises(WireError):
        PROTOCOL.replace_result(b"{}", nothing, Rewrite("x"))


@pytest.mark.parametrize("stream", [STREAM, LLAMA])
def test_a_whole_answer_and_its_stream_say_the_same(stream: tuple[bytes, ...]) -> None:
    whole = PROTOCOL.response_view(200, pack(WHOLE))
    assert whole == ResponseView("m", "Let me look.", "stop", (), Usage(9, 4), None, complete=True)
    assert heard(*stream) == whole
    assert heard(*stream[:-1]).complete is True, "some imitators leave the mark out"
    assert heard(*stream[:1]).complete is False
    assert [PROTOCOL.is_terminal(event) for event in stream] == [False] * (len(stream) - 1) + [True]


@pytest.mark.parametrize("stream", [STREAM, LLAMA])
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_a_cut_stream_agrees_with_the_cut_answer(stream: tuple[bytes, ...], budget: int) -> None:
    editor = PROTOCOL.truncator(budget)
    streamed = heard(*(piece for event in stream for piece in editor.feed(event)))
    assert editor.changed
    whole = PROTOCOL.response_view(200, PROTOCOL.truncate(pack(WHOLE), budget))
    assert (streamed, whole.finish_reason, whole.usage) == (whole, "length", Usage(9, budget))
    untouched = PROTOCOL.truncator(100)
    assert tuple(piece for event in stream for piece in untouched.feed(event)) == stream


def test_every_choice_has_a_budget_of_its_own() -> None:
    told = {**WHOLE, "choices": [choice("one two three", "stop"), choice("four", "stop", 1)]}
    cut = json.loads(PROTOCOL.truncate(pack(told), 2))
    assert [(c["text"], c["finish_reason"]) for c in cut["choices"]] == [
        ("one two", "length"),
        ("four", "stop"),
    ]


CHANGES = {
    "text": Change(text=str.upper),
    "no text": Change(text=lambda _: ""),
    "longer": Change(text=lambda text: text * 3),
    "finish": Change(finish="content_filter"),
    "usage": Change(drop_usage=True),
    "all": Change(text=str.upper, finish="length", finish_was="stop", drop_usage=True),
}


@pytest.mark.parametrize("stream", [STREAM, LLAMA])
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_stream_agrees_with_the_changed_answer(name: str, stream: tuple[bytes, ...]) -> None:
    whole = PROTOCOL.response_view(200, PROTOCOL.edits.change(pack(WHOLE), CHANGES[name]))
    assert heard(*changed(CHANGES[name], *stream)) == whole
    assert whole != PROTOCOL.response_view(200, pack(WHOLE))


@pytest.mark.parametrize("stream", [STREAM, LLAMA])
def test_nothing_is_changed_where_all_is_as_wanted(stream: tuple[bytes, ...]) -> None:
    same = Change(text=lambda text: text, finish="length", finish_was="content_filter")
    assert changed(same, *stream) == stream
    assert PROTOCOL.edits.change(pack(WHOLE), same) == pack(WHOLE)
    assert changed(CHANGES["text"], *stream[:1]) == stream[:1], "a broken stream is left as it came"


def test_errors_are_openai_s_and_each_provider_s_own() -> None:
    assert PROTOCOL.error(429, retry_after_s=1).status == 429
    assert b"Please retry" in (PROTOCOL.error_by("azure", 429, retry_after_s=3).body or b"")
    event = PROTOCOL.edits.error_event("server_error", "boom")
    assert event is not None
    assert heard(*STREAM[:2], event).error == "boom"
    failure = PROTOCOL.edits.failure("quota_exceeded")
    assert failure is not None
    assert failure.status == 429
    assert PROTOCOL.response_view(503, b'{"object":"error","message":"busy"}').error == "busy"
    assert PROTOCOL.response_view(503, b"{}").error == "status 503"
