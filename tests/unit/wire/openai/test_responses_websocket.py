"""faultwire.wire.openai.responses_websocket."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.wire.provider_shapes import SHAPES
from tests.unit.wire.sockets import upgrade

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Response, Usage
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import split as framing, sse
from faultwire.wire.types import Rewrite

P = wire.protocol("responses_socket")
SHAPE = SHAPES["openai_responses"]
CREATE = {
    "type": "response.create",
    "model": "gpt-5-mini",
    "previous_response_id": "resp_0",
    "input": [{"type": "function_call_output", "call_id": "call_a1", "output": "sunny"}],
}


def messages(lane: str | None = None) -> list[bytes]:
    """The golden stream, as its messages."""
    found = []
    for event in framing.events(SHAPE.stream, (("content-type", SHAPE.stream_type),)):
        fields = sse.fields(event)
        assert fields is not None
        document = json.loads(fields.data)
        found.append(json.dumps(document | ({"stream_id": lane} if lane else {})).encode())
    return found


@pytest.mark.parametrize(
    ("host", "path", "known"),
    [
        ("api.openai.com", "/v1/responses", True),
        ("me.openai.azure.com", "/openai/responses?api-version=1", True),
        ("127.0.0.1", "/v1/responses", True),
        ("forms.example", "/survey/responses", False),
        ("api.openai.com", "/v1/chat/completions", False),
    ],
)
def test_recognition(host: str, path: str, known: bool) -> None:
    assert (wire.classify(upgrade(host, path)).protocol is P) is known
    posted = wire.classify(upgrade(host, path, method="POST"))
    assert posted.protocol is not P


def test_what_a_message_asks() -> None:
    data = json.dumps(CREATE).encode()
    view = P.message_view(data)
    assert view is not None
    assert (view.model, view.results[0].text) == ("gpt-5-mini", "sunny")
    changed = P.replace_result(data, view.results[0], Rewrite("rain"))
    assert changed == data.replace(b"sunny", b"rain")
    assert P.edits.texts(data)[0].text == "sunny"
    for other in (
        b'{"type":"response.cancel"}',
        b'{"type":"response.create"}',
        b"no",
        b'["response.create"]',
    ):
        assert P.message_view(other) is None
    with pytest.raises(WireError):
        P.request_view(b"{}")


def test_streams_are_read_lane_by_lane() -> None:
    reader = P.reader()
    for one, other in zip(messages("a"), messages("b"), strict=True):
        reader.feed(one)
        reader.feed(other)
    found = reader.view()
    assert found.text == f"{SHAPE.text}\n{SHAPE.text}"
    assert len(found.tool_calls) == 2 * len(SHAPE.calls)
    assert SHAPE.usage is not None
    assert found.usage == Usage(2 * SHAPE.usage.input_tokens, 2 * SHAPE.usage.output_tokens)
    assert [P.is_terminal(event) for event in messages()].index(True) == len(messages()) - 1


def test_each_response_is_cut_by_itself() -> None:
    editor: Any = P.truncator(1)
    out = [piece for event in (*messages(), *messages()) for piece in editor.feed(event)]
    reader = P.reader()
    for event in out:
        reader.feed(event)
    assert editor.changed
    assert reader.view().finish_reason == "max_output_tokens"
    closing = [json.loads(event)["type"] for event in out if P.is_terminal(event)]
    assert closing == ["response.incomplete"] * 2
    whole: Any = P.truncator(10_000)
    assert [piece for event in messages() for piece in whole.feed(event)] == messages()


def test_errors() -> None:
    event = P.edits.error_event("overloaded", None)
    assert P.edits.numbered(event, 3) == event, "responses share the connection; it is no event of one"
    assert event is not None
    reader = P.reader()
    reader.feed(event)
    assert json.loads(event)["type"] == "error"
    assert "server had an error" in (reader.view().error or "")
    assert P.error(429).status == 429
    assert P.splitter(upgrade("api.openai.com", "/v1/responses"), Response(429)) is None
    assert P.response_view(429, P.error(429).body or b"").error


def test_each_answer_is_changed_by_itself() -> None:
    change = Change(text=str.upper, finish="length")
    editor: Any = P.edits.stream_editor(change)
    out = [piece for event in (*messages(), *messages()) for piece in editor.feed(event)]
    out += editor.finish()
    assert all(json.loads(event)["type"] for event in out), "messages, without any framing"
    reader = P.reader()
    for event in out:
        reader.feed(event)
    assert editor.changed
    assert reader.view().text == f"{SHAPE.text}\n{SHAPE.text}".upper()
    closing = [json.loads(event)["type"] for event in out if P.is_terminal(event)]
    assert closing == ["response.incomplete"] * 2
    same: Any = P.edits.stream_editor(Change(text=str))
    assert [piece for event in messages() for piece in same.feed(event)] == messages()
    assert not same.changed
