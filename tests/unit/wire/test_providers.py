"""What holds for every protocol: golden streams, views, edits, errors.

faultwire.wire.openai.responses, faultwire.wire.google.gemini, faultwire.wire.ollama.chat,
faultwire.wire.cohere.chat, faultwire.wire.bedrock.converse and faultwire.wire.bedrock.invoke_model, with
faultwire.wire.openai.responses_stream, faultwire.wire.google.gemini_stream, faultwire.wire.cohere.stream,
faultwire.wire.bedrock.stream, faultwire.wire.editing.json_stream, faultwire.wire.editing.truncate,
faultwire.wire.editing.ids, faultwire.wire.recognition.signed, faultwire.wire.google.errors,
faultwire.wire.bedrock.errors.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.wire.provider_shapes import SHAPES
from tests.unit.wire.shapes import pack, post

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import ResponseView
from faultwire.wire.framing import split as framing
from faultwire.wire.types import Rewrite

NAMES = tuple(SHAPES)


def events(name: str) -> list[bytes]:
    shape = SHAPES[name]
    return framing.events(shape.stream, (("content-type", shape.stream_type),))


def heard(name: str, *stream: bytes) -> ResponseView:
    reader = wire.protocol(name).reader()
    for event in stream:
        reader.feed(event)
    return reader.view()


def called(view: ResponseView) -> list[Any]:
    return [(call.id, call.name, json.loads(call.arguments)) for call in view.tool_calls]


def cut(name: str, max_tokens: int) -> list[bytes]:
    editor = wire.protocol(name).truncator(max_tokens)
    out = [piece for event in events(name) for piece in editor.feed(event)]
    assert editor.changed == (out != events(name))
    return [*out, *editor.finish()]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_stream_is_read(name: str) -> None:
    shape, found = SHAPES[name], heard(name, *events(name))
    assert (found.text, called(found)) == (shape.text, called(ResponseView(tool_calls=shape.calls)))
    assert (found.usage, found.error, found.complete) == (shape.usage, None, True)
    assert b"".join(events(name)) == shape.stream


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_answer_says_the_same_as_the_stream(name: str) -> None:
    shape = SHAPES[name]
    found = wire.protocol(name).response_view(200, pack(shape.whole))
    assert (found.text, found.tool_calls, found.finish_reason) == (shape.text, shape.calls, shape.finish)
    assert (found.usage, found.error, found.complete) == (shape.usage, None, True)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_last_event_closes(name: str) -> None:
    told = [wire.protocol(name).is_terminal(event) for event in events(name)]
    assert told == [False] * (len(told) - 1) + [True]


@pytest.mark.parametrize("name", NAMES)
def test_without_its_end_a_stream_is_incomplete(name: str) -> None:
    assert heard(name, *events(name)[:-1]).complete is False


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "junk", [b"", b"data: {oops\n\n", b"{oops\n", b"\0\0\0\1", b"data: [1]\n\n", b"[]\n"]
)
def test_nonsense_is_passed_over_and_passed_on(name: str, junk: bytes) -> None:
    assert heard(name, junk, *events(name)).text == SHAPES[name].text
    editor = wire.protocol(name).truncator(1)
    assert list(editor.feed(junk)) == [junk]
    assert not editor.changed


@pytest.mark.parametrize("name", NAMES)
def test_the_request_is_read(name: str) -> None:
    shape = SHAPES[name]
    protocol = wire.protocol(name)
    found = protocol.view(post(f"https://h{shape.path}", shape.request))
    assert found.stream
    assert found.model
    assert found.system == "Be brief."
    assert "weather" in found.tools
    assert found.turns[0].text == "Weather in Paris, and 2+2?"
    first, second = found.results
    assert (first.name, first.new, json.loads(first.text)) == ("weather", True, {"temp": 22})
    assert json.loads(first.arguments) == {"city": "Paris"}
    assert (second.name, second.text, second.new) == ("calc", "4", True)
    assert first.call_id != second.call_id
    called = [call for turn in found.turns for call in turn.tool_calls]
    assert [call.id for call in called] == [first.call_id, second.call_id]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "rewrite", [Rewrite("the tool is on fire ✓", is_error=True), Rewrite("23"), Rewrite("")]
)
def test_a_result_is_replaced_and_nothing_else(name: str, which: int, rewrite: Rewrite) -> None:
    protocol, body = wire.protocol(name), json.dumps(SHAPES[name].request, indent=1).encode()
    result = protocol.request_view(body).results[which]
    new = protocol.replace_result(body, result, rewrite)
    again = protocol.request_view(new)
    assert rewrite.text in again.results[which].text
    assert (again.results[which].call_id, again.results[which].name) == (result.call_id, result.name)
    other = 1 - which
    assert again.results[other] == protocol.request_view(body).results[other]
    # All that stands before and behind the message (or part) of this result is the same to the byte.
    place = list(result.path[:4] if len(result.path) > 3 else result.path[:2])
    old_span, new_span = _core.json_span(body, place), _core.json_span(new, place)
    assert old_span is not None
    assert new_span is not None
    assert (new[: new_span[0]], new[new_span[1] :]) == (body[: old_span[0]], body[old_span[1] :])
    before, after = json.loads(body[slice(*old_span)]), json.loads(new[slice(*new_span)])
    # Gemini's SDK puts an error under another key than a result.
    assert _shape(before) - {"output:str"} <= _shape(after)


def _shape(value: Any) -> set[str]:
    """Types of containers, by name of the member that holds them."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in (
                "content",
                "output",
                "response",
                "document",
                "image",
                "functionResponse",
                "toolResult",
            ):
                found.add(f"{key}:{type(inner).__name__}")
            found |= _shape(inner)
    if isinstance(value, list):
        for inner in value:
            found |= _shape(inner)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_result_of_another_body_is_refused(name: str) -> None:
    protocol, body = wire.protocol(name), pack(SHAPES[name].request)
    result = protocol.request_view(body).results[0]
    far = replace(result, path=(*result.path[:1], 99, *result.path[2:]))
    with pytest.raises(WireError):
        protocol.replace_result(body, far, Rewrite("x"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5, 7, 9])
def test_a_cut_stream_agrees_with_the_cut_answer(name: str, budget: int) -> None:
    shape, protocol = SHAPES[name], wire.protocol(name)
    streamed = heard(name, *cut(name, budget))
    assert streamed.complete
    assert streamed.finish_reason == shape.cut
    assert streamed.usage is not None
    assert streamed.usage.output_tokens == budget
    assert shape.text.startswith(streamed.text)
    if name not in ("gemini",):  # whose whole answer here has a thought in front
        whole = protocol.response_view(200, protocol.truncate(pack(shape.whole), budget))
        assert (whole.text, whole.finish_reason, whole.usage) == (
            streamed.text,
            shape.cut,
            streamed.usage,
        )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_where_all_fits(name: str) -> None:
    protocol, body = wire.protocol(name), pack(SHAPES[name].whole)
    assert protocol.truncate(body, 200) == body
    assert b"".join(cut(name, 200)) == SHAPES[name].stream


@pytest.mark.parametrize("name", [*NAMES, "embeddings", "openai_chat", "anthropic"])
@pytest.mark.parametrize(
    "status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529, 599]
)
def test_errors_state_what_went_wrong(name: str, status: int) -> None:
    protocol = wire.protocol(name)
    for provider in (protocol.provider(post("https://h/")), "azure", "mistral", "openrouter", "google"):
        answer = protocol.error_by(provider, status, message="it broke", retry_after_s=1.5)
        assert answer.status == status
        assert b"it broke" in (answer.body or b"")
        assert dict(answer.headers)["content-length"] == str(len(answer.body or b""))
        if "json" in dict(answer.headers)["content-type"]:
            assert protocol.response_view(status, answer.body or b"").error
        plain = protocol.error_by(provider, status)
        assert plain.body
        assert plain == protocol.error_by(provider, status)


@pytest.mark.parametrize("name", [*NAMES, "embeddings"])
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"{}", b"1", b"\xff", b'{"contents":1,"messages":2}'])
def test_what_is_no_request_raises(name: str, body: bytes) -> None:
    with pytest.raises(WireError):
        wire.protocol(name).request_view(body)


@pytest.mark.parametrize("name", [*NAMES, "embeddings"])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[[1]]", b"null"])
def test_what_is_no_answer_raises(name: str, body: bytes) -> None:
    protocol = wire.protocol(name)
    with pytest.raises(WireError):
        protocol.response_view(200, body)
    if name != "embeddings":
        with pytest.raises(WireError):
            protocol.truncate(body if body != b"[[1]]" else b"{", 2)
