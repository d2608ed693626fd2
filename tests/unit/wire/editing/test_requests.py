"""faultwire.wire.editing.requests, and the edits of the protocols that build on it.

Covers faultwire.wire.bedrock.edits, faultwire.wire.bedrock.stream_edits, faultwire.wire.cohere.edits,
faultwire.wire.google.gemini_edits, faultwire.wire.ollama.edits, faultwire.wire.openai.responses_edits,
faultwire.wire.openai.responses_stream_edits, faultwire.wire.editing.hold_back and
faultwire.wire.editing.tool_content.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.provider_shapes import SHAPES

from faultwire import _core, wire
from faultwire.wire.editing.api import Change
from faultwire.wire.editing.requests import Texts, role_of
from faultwire.wire.framing import split as framing

NAMES = tuple(SHAPES)
FAILURES: tuple[Any, ...] = ("overloaded", "quota_exceeded", "context_length", "content_filter")


@pytest.mark.parametrize("name", NAMES)
def test_every_text_has_its_place_and_speaker(name: str) -> None:
    edits, body = wire.protocol(name).edits, json.dumps(SHAPES[name].request).encode()
    found = edits.texts(body)
    told = {place.text: place for place in found}
    assert told["Be brief."].role == "system"
    assert not told["Be brief."].new
    assert (told["Weather in Paris, and 2+2?"].role, told["Weather in Paris, and 2+2?"].new) == (
        "user",
        False,
    )
    assert (told["4"].role, told["4"].new) == ("tool", True)
    for place in found:
        span = _core.json_span(body, list(place.path))
        assert span is not None
        assert json.loads(body[slice(*span)]) == place.text


@pytest.mark.parametrize("name", NAMES)
def test_a_rewritten_text_changes_nothing_else(name: str) -> None:
    edits, body = wire.protocol(name).edits, json.dumps(SHAPES[name].request, indent=2).encode()
    (place,) = [place for place in edits.texts(body) if place.text.startswith("Weather")]
    new = edits.rewrite_texts(body, {place.path: "Écoute !"})
    assert new == body.replace(b'"Weather in Paris, and 2+2?"', '"Écoute !"'.encode())
    assert wire.protocol(name).request_view(new).turns[0].text == "Écoute !"


@pytest.mark.parametrize("name", [*NAMES, "embeddings"])
@pytest.mark.parametrize("what", FAILURES)
def test_named_failures_are_the_provider_s_errors(name: str, what: Any) -> None:
    protocol = wire.protocol(name)
    usual, mine = protocol.edits.failure(what), protocol.edits.failure(what, message="mine")
    if usual is None or mine is None:
        assert usual is mine is None
        assert what in ("content_filter", "quota_exceeded")
        return
    assert usual.status == mine.status >= 400
    assert protocol.response_view(mine.status, mine.body or b"").error == "mine"
    assert protocol.response_view(usual.status, usual.body or b"").error


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["overloaded", "server_error"])
def test_an_error_inside_a_stream_is_read_as_one(name: str, what: Any) -> None:
    protocol = wire.protocol(name)
    for message in (None, "it broke"):
        event = protocol.edits.error_event(what, message)
        assert event is not None
        reader = protocol.reader()
        reader.feed(event)
        assert reader.view().error
        assert message is None or reader.view().error == message


def test_invoke_model_s_answers_are_changed_inside_their_frames() -> None:
    shape, protocol = SHAPES["bedrock_invoke"], wire.protocol("bedrock_invoke")
    frames = framing.events(shape.stream, (("content-type", shape.stream_type),))
    change = Change(text=str.upper, finish="stop")
    editor, reader = protocol.edits.stream_editor(change), protocol.reader()
    assert editor is not None
    out = [piece for frame in frames for piece in editor.feed(frame)]
    for frame in [*out, *editor.finish()]:
        _core.eventstream_parse(frame)
        reader.feed(frame)
    found = reader.view()
    assert (found.text, found.finish_reason, found.complete) == ("LET ME LOOK.", "end_turn", True)
    assert editor.changed
    whole = protocol.edits.change(json.dumps(shape.whole).encode(), change)
    assert protocol.response_view(200, whole).text == "LET ME LOOK."

    same = protocol.edits.stream_editor(Change())
    assert same is not None
    out = [piece for frame in frames for piece in same.feed(frame)]
    assert b"".join([*out, *same.finish()]) == shape.stream
    assert not same.changed


@pytest.mark.parametrize("name", [*NAMES, "embeddings"])
def test_what_is_said_to_be_possible_is(name: str) -> None:
    edits = wire.protocol(name).edits
    assert edits.can("failure")
    assert edits.can("answer") is (name != "embeddings")
    assert edits.can("texts") is (name != "embeddings")


def test_texts_are_gathered_with_their_places() -> None:
    texts = Texts(last=0)
    texts.blocks("user", "whole", ("m", 0), 0)
    texts.blocks("user", [{"text": "part"}, {"image": 1}], ("m", 1), 1)
    assert [(one.text, one.path) for one in texts.found] == [
        ("whole", ("m", 0)),
        ("part", ("m", 1, 0, "text")),
    ]
    assert [role_of(word) for word in ("function", "nobody", None)] == ["tool", "user", "user"]
