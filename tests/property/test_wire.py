"""Views and edits hold for any JSON, any text, and any chunking."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tests.unit.wire.provider_shapes import SHAPES
from tests.unit.wire.shapes import golden

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.framing import split as framing, sse
from faultwire.wire.types import Rewrite

NAMES = ("openai_chat", "anthropic")
ALL = (*NAMES, *SHAPES)
texts = st.text(max_size=40)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
extras = st.dictionaries(st.sampled_from(["x", "metadata", "name2", "é"]), values, max_size=3)
contents = texts | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": texts})
    | st.fixed_dictionaries({"type": st.just("text"), "text": texts, "cache_control": values})
    | st.fixed_dictionaries({"type": st.just("image"), "source": values}),
    max_size=3,
)
rewrites = st.builds(Rewrite, texts, st.booleans())


def openai(results: list[Any], extra: dict[str, Any]) -> dict[str, Any]:
    calls = [{"id": f"c{i}", "function": {"name": f"f{i}", "arguments": "{}"}} for i in range(len(results))]
    tools = [{"role": "tool", "tool_call_id": f"c{i}", "content": c, **extra} for i, c in enumerate(results)]
    return {**extra, "messages": [{"role": "assistant", "tool_calls": calls}, *tools], "model": "m"}


def anthropic(results: list[Any], extra: dict[str, Any]) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": f"c{i}", "name": f"f{i}", "input": {}} for i in range(len(results))]
    blocks = [
        {**extra, "type": "tool_result", "tool_use_id": f"c{i}", "content": c} for i, c in enumerate(results)
    ]
    return {
        **extra,
        "messages": [{"role": "assistant", "content": calls}, {"role": "user", "content": blocks}],
    }


MAKE = {"openai_chat": openai, "anthropic": anthropic}


@pytest.mark.parametrize("name", NAMES)
@given(
    results=st.lists(contents, min_size=1, max_size=3),
    extra=extras,
    rewrite=rewrites,
    which=st.integers(0, 2),
    style=st.sampled_from([(",", ":"), (", ", ": "), (" , ", " :\n")]),
    ascii_=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_replacing_a_result_keeps_every_byte_outside_it(
    name: str,
    results: list[Any],
    extra: dict[str, Any],
    rewrite: Rewrite,
    which: int,
    style: tuple[str, str],
    ascii_: bool,
) -> None:
    protocol = wire.protocol(name)
    document = MAKE[name](results, extra)
    body = json.dumps(document, separators=style, ensure_ascii=ascii_).encode()
    result = protocol.request_view(body).results[which % len(results)]
    new = protocol.replace_result(body, result, rewrite)

    place = result.path if name == "openai_chat" else result.path[:-1]
    old_span, new_span = _core.json_span(body, list(place)), _core.json_span(new, list(place))
    assert old_span is not None
    assert new_span is not None
    assert new[: new_span[0]] == body[: old_span[0]]
    assert new[new_span[1] :] == body[old_span[1] :]

    before, after = json.loads(body[slice(*old_span)]), json.loads(new[slice(*new_span)])
    if name == "anthropic":
        assert {**before, "content": 0, "is_error": 0} == {**after, "content": 0, "is_error": 0}
        assert after.get("is_error", False) is rewrite.is_error
        before, after = before["content"], after["content"]
    assert type(after) is type(before)
    assert _unworded(after) == _unworded(before)
    again = protocol.request_view(new).results[which % len(results)]
    if again.text != rewrite.text:
        assert _holds_json(result.text)
        assert json.loads(again.text) in (
            {"error": rewrite.text},
            {"result": rewrite.text},
            [rewrite.text],
            {},
            [],
        )


def _unworded(content: Any) -> list[Any]:
    return [block for block in content if block["type"] != "text"] if isinstance(content, list) else []


def _holds_json(text: str) -> bool:
    """Is the text, or one of the blocks that it was joined from, perhaps a JSON object or array?"""
    return any(part.strip()[:1] in ("{", "[") for part in text.split("\n"))


@pytest.mark.parametrize("name", ALL)
@given(body=values, extra=extras)
@settings(max_examples=300, deadline=None)
def test_views_of_anything_raise_nothing_but_wire_errors(name: str, body: Any, extra: dict[str, Any]) -> None:
    protocol = wire.protocol(name)
    for document in (body, *(_holding(body, extra))):
        packed = json.dumps(document).encode()
        for act in (
            lambda data: protocol.request_view(data),
            lambda data: protocol.response_view(200, data),
            lambda data: protocol.truncate(data, 2),
        ):
            with suppress(WireError):
                act(packed)


def _holding(body: Any, extra: dict[str, Any]) -> list[Any]:
    part = {"role": "assistant", "content": [body], "parts": [body, {"functionCall": body}], **extra}
    message = {"role": "tool", "content": body, "parts": [{"functionResponse": body}], "tool_calls": [body]}
    return [
        {"messages": [body, extra, part, message]},
        {"contents": [body, extra, part, message]},
        {"input": [body, part, {"type": "function_call_output", "call_id": "x", "output": body}]},
        {"choices": [body]},
        {"content": [body], **extra},
        {"output": [body, part, {"type": "function_call", "arguments": body}], "usage": body},
        {"output": {"message": part}, "usage": body},
        {"candidates": [{"content": part}], "usageMetadata": body},
        {"message": part, "done": body},
    ]


FRAMES = ("chunk", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata", "x")


@pytest.mark.parametrize("name", ALL)
@given(
    event=st.binary(max_size=60)
    | values.map(lambda v: b"data: " + json.dumps(v).encode() + b"\n\n")
    | values.map(lambda v: json.dumps(v).encode() + b"\n")
    | st.tuples(st.sampled_from(FRAMES), values).map(
        lambda f: _core.eventstream_write([(":event-type", f[0])], json.dumps(f[1]).encode())
    )
)
@settings(max_examples=300, deadline=None)
def test_no_event_upsets_a_reader_or_an_editor(name: str, event: bytes) -> None:
    protocol = wire.protocol(name)
    reader, editor = protocol.reader(), protocol.truncator(1)
    reader.feed(event)
    list(editor.feed(event))
    protocol.is_terminal(event)
    assert reader.view().complete in (True, False)


@pytest.mark.parametrize("name", ALL)
@given(cuts=st.lists(st.integers(0, 2000), max_size=12), budget=st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_chunking_changes_neither_what_is_read_nor_what_is_cut(
    name: str, cuts: list[int], budget: int
) -> None:
    stream = SHAPES[name].stream if name in SHAPES else golden(name)
    headers = (("content-type", SHAPES[name].stream_type if name in SHAPES else framing.SSE),)
    protocol = wire.protocol(name)

    def run(chunks: list[bytes]) -> tuple[Any, bytes]:
        splitter, reader, editor = framing.splitter(headers), protocol.reader(), protocol.truncator(budget)
        assert splitter is not None
        out = b""
        for data in chunks:
            for event in splitter.feed(data):
                reader.feed(event)
                out += b"".join(editor.feed(event))
        return reader.view(), out + splitter.finish()

    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[a:b] for a, b in pairwise(edges)]
    assert run(chunks) == run([stream])


@given(
    text=st.text(alphabet="ab é日 \n.,-", max_size=60),
    cuts=st.lists(st.integers(0, 60)),
    budget=st.integers(1, 20),
)
@settings(max_examples=500, deadline=None)
def test_where_a_text_is_cut_does_not_depend_on_its_pieces(text: str, cuts: list[int], budget: int) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces, whole = Budget(budget), Budget(budget)
    kept = "".join(pieces.take(text[a:b]) for a, b in pairwise(edges))
    assert kept == whole.take(text)
    assert (pieces.used, pieces.spent) == (whole.used, whole.spent)
    assert text.startswith(kept)


@given(
    words=st.lists(st.text(alphabet="ab .", min_size=1, max_size=6), min_size=1, max_size=8),
    budget=st.integers(1, 8),
)
@settings(max_examples=200, deadline=None)
def test_a_stream_is_cut_where_the_whole_answer_is(words: list[str], budget: int) -> None:
    protocol = wire.protocol("openai_chat")
    message = {"role": "assistant", "content": "".join(words)}
    whole = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words), {}]
    events = [
        sse.write(
            json.dumps(
                {"choices": [{"index": 0, "delta": d, "finish_reason": None if d else "stop"}]}
            ).encode()
        )
        for d in deltas
    ]
    editor, reader = protocol.truncator(budget), protocol.reader()
    for event in events:
        for piece in editor.feed(event):
            reader.feed(piece)
    expected = protocol.response_view(200, protocol.truncate(whole, budget))
    assert (reader.view().text, reader.view().finish_reason) == (expected.text, expected.finish_reason)
