"""Gemini's streams as one JSON array: framed, read, cut and broken element by element, while they arrive."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.exchange.test_pipeline import context
from tests.unit.wire.provider_shapes import GEMINI
from tests.unit.wire.shapes import pack, post

from faultwire import _core, wire
from faultwire.events import Cut, Recorded, Request, Response, Send
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.wire.editing.json_stream import ELEMENTS, SSE_OR_ELEMENTS
from faultwire.wire.framing import split as framing, sse
from faultwire.wire.transcript.response import response_view

PROTOCOL = wire.protocol("gemini")
URL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent"
ASK = post(URL, GEMINI.request)
HEAD = Response(200, "OK", (("content-type", "application/json; charset=UTF-8"),))
FIRST, LAST = (json.loads(sse.fields(event).data) for event in sse.events(GEMINI.stream))  # type: ignore[union-attr]
MIDDLE = {"candidates": [{"content": {"role": "model", "parts": [{"text": ' {[ " ,'}]}, "index": 0}]}
ANSWERS = [FIRST, MIDDLE, LAST]
AS_SSE = b"".join(b"data: " + pack(answer) + b"\r\n\r\n" for answer in ANSWERS)
STREAM = b"[" + b"\r\n,\r\n".join(json.dumps(one, indent=2).encode() for one in ANSWERS) + b"\n]\n"
"""As the API sends it: pretty-printed, a comma on a line of its own."""
WORD = 'Hello, [wor]ld {"a": "\\"} ,'


def elements(stream: bytes) -> list[bytes]:
    return framing.cut(stream, PROTOCOL.splitter(ASK, HEAD))


def passing(
    faults: str | tuple[str, ...], *chunks: bytes, request: Request = ASK
) -> tuple[bytes, ExchangePipeline, list[Any]]:
    """What is delivered of a stream that arrives in these chunks."""
    faults = (faults,) if isinstance(faults, str) else faults
    pipeline = ExchangePipeline(context(*faults), replace(request, body=None))
    departure = pipeline.request(request.body or b"")
    assert departure.answer is None
    pipeline.head(HEAD)
    actions: list[Any] = []
    for chunk in chunks:
        if not any(isinstance(action, Cut) for action in actions):
            actions += list(pipeline.feed(chunk))
    if not any(isinstance(action, Cut) for action in actions):
        actions += list(pipeline.finish())
    data = b"".join(action.data for action in actions if isinstance(action, Send))
    return data, pipeline, [line.outcome for line in pipeline.ledger()]


def chunked(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


def test_only_a_stream_that_is_no_sse_is_an_array() -> None:
    assert isinstance(PROTOCOL.splitter(ASK, HEAD), _core.ArraySplitter)
    sse_head = replace(HEAD, headers=(("content-type", framing.SSE),))
    assert isinstance(PROTOCOL.splitter(ASK, sse_head), _core.SseSplitter)
    assert PROTOCOL.splitter(post(URL.replace("streamG", "g"), {}), HEAD) is None
    assert PROTOCOL.splitter(ASK, replace(HEAD, status=429)) is None
    assert PROTOCOL.splitter(ASK, replace(HEAD, headers=(("content-type", "text/html"),))) is None
    assert PROTOCOL.view(ASK).stream
    assert not PROTOCOL.view(post(URL.replace("streamG", "g"), GEMINI.request)).stream


def test_each_element_is_one_event() -> None:
    found = elements(STREAM)
    assert b"".join(found) == STREAM
    assert len(found) == len(ANSWERS) + 1
    assert found[0].startswith(b"[")
    assert all(event.startswith(b"\r\n,\r\n") for event in found[1:-1])
    assert found[-1] == b"\n]\n"
    assert [PROTOCOL.is_terminal(event) for event in found] == [False] * (len(ANSWERS) - 1) + [True, False]


def test_it_reads_the_same_as_the_stream_in_sse() -> None:
    asked = response_view(PROTOCOL, replace(HEAD, body=STREAM), ASK)
    assert asked == response_view(
        PROTOCOL, Response(200, "OK", (("content-type", framing.SSE),), AS_SSE), ASK
    )
    assert asked.complete
    assert response_view(PROTOCOL, replace(HEAD, body=STREAM)) == asked, "also where nobody knows the request"


def test_a_cut_array_is_not_complete() -> None:
    cut = STREAM[: STREAM.rindex(b'"finishReason"')]
    found = response_view(PROTOCOL, replace(HEAD, body=cut), ASK)
    assert (found.complete, bool(found.text)) == (False, True)


@pytest.mark.parametrize("body", [b"<html>", b'{"error": {"message": "no"}}', b"[nope]", b"[{} {}]", b"[{"])
def test_what_is_no_array_is_noted_and_passes_unchanged(body: bytes) -> None:
    assert b"".join(elements(body)) == body
    found = response_view(PROTOCOL, replace(HEAD, body=body), ASK)
    assert found.error
    data, _, outcomes = passing("duplicate_event: {at: 9}", body)
    assert (data, outcomes) == (body, ["no_effect"])


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_the_tape_s_reader_frames_it_too(size: int) -> None:
    delivery = _delivery(STREAM)
    recorded = Recorded(
        "s", 1, "llm", "gemini", "google", None, ASK, delivery, delivery, "complete", None, 0, 0, 1.0
    )
    told = wire.transcript_of(recorded)
    assert told is not None
    assert told.answer is not None
    assert told.answer.text == GEMINI.text + ' {[ " ,'
    data, _, _ = passing("duplicate_event: {at: 99}", *chunked(STREAM, size))
    assert data == STREAM


def _delivery(body: bytes) -> Any:
    from faultwire.events import Delivery

    return Delivery(200, "OK", HEAD.headers, body, ((len(body), 1),))


def test_an_element_leaves_as_soon_as_it_is_whole() -> None:
    pipeline = ExchangePipeline(context("duplicate_event: {at: 99}"), replace(ASK, body=None))
    pipeline.request(ASK.body or b"")
    pipeline.head(HEAD)
    first = elements(STREAM)[0]
    assert list(pipeline.feed(first[:-1])) == []
    assert list(pipeline.feed(first[-1:])) == [Send(first)]


@pytest.mark.parametrize("at", range(1, len(ANSWERS) + 1))
@pytest.mark.parametrize("fault", ["drop_event", "duplicate_event", "reorder_events"])
@pytest.mark.parametrize("size", [1, 50, 100_000])
def test_lost_doubled_and_moved_elements_leave_an_array(fault: str, at: int, size: int) -> None:
    data, _, outcomes = passing(f"{fault}: {{at: {at}}}", *chunked(STREAM, size))
    expected = list(ANSWERS)
    one = expected.pop(at - 1)
    if fault == "duplicate_event":
        expected[at - 1 : at - 1] = [one, one]
    elif fault == "reorder_events":
        expected.insert(at, one)
    assert json.loads(data) == expected
    moved = fault != "reorder_events" or at < len(ANSWERS)
    assert outcomes == (["fired"] if moved else ["no_effect"])


def test_all_elements_lost_leave_an_empty_array() -> None:
    assert json.loads(passing("drop_event: {share: 1}", STREAM)[0]) == []


def test_an_early_end_closes_the_array() -> None:
    data, _, outcomes = passing("early_end: {after_events: 1}", *chunked(STREAM, 10))
    assert json.loads(data) == ANSWERS[:1]
    assert outcomes == ["fired"]
    assert json.loads(passing("early_end: {after_events: 0}", STREAM)[0]) == []


def test_a_cut_does_not_close_it() -> None:
    data, _, outcomes = passing("cut_stream: {after_events: 2}", STREAM)
    assert outcomes == ["fired"]
    assert json.loads(data + b"]") == ANSWERS[:2]


def test_an_error_comes_as_an_element() -> None:
    data, _, outcomes = passing("stream_error: {after_events: 1}", STREAM)
    found = json.loads(data)
    assert outcomes == ["fired"]
    assert found[0] == ANSWERS[0]
    assert found[1]["error"]["status"] == "UNAVAILABLE"


def test_a_malformed_element_is_no_json() -> None:
    data, _, outcomes = passing("malformed_event: {at: 1}", STREAM)
    assert outcomes == ["fired"]
    with pytest.raises(ValueError, match=r"Expecting|delimiter|Unterminated|Extra"):
        json.loads(data)


@pytest.mark.parametrize("size", [1, 33, 100_000])
def test_it_is_cut_short_as_its_sse_sister_is(size: int) -> None:
    data, _, outcomes = passing("truncate_response: {max_tokens: 2}", *chunked(STREAM, size))
    assert outcomes == ["fired"]
    assert json.loads(data)[-1]["candidates"][0]["finishReason"] == GEMINI.cut
    editor = PROTOCOL.truncator(2)
    cut = [sse.fields(out) for event in sse.events(AS_SSE) for out in editor.feed(event)]
    assert json.loads(data) == [json.loads(fields.data) for fields in cut if fields]


def test_pieces_are_divided_after_the_array_was_joined() -> None:
    data, _, outcomes = passing(("drop_event: {at: 1}", "split_events: {piece_bytes: 3}"), STREAM)
    assert json.loads(data) == ANSWERS[1:]
    assert outcomes == ["fired", "fired"]


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        ([b'[{"a":1}', b',{"b":2}', b"]"], b'[{"a":1},{"b":2}]'),
        ([b',{"b":2}', b'[{"a":1}', b"\n]"], b'[{"b":2},{"a":1}\n]'),
        ([b"]"], b"[]"),
        ([b"[1", b",2"], b"[1,2"),
        ([b'{"x":1}', b'{"y":2}', b"]"], b'[{"x":1},\r\n{"y":2}]'),
        ([b' [ "a"', b'data: {"e":1}\r\n\r\n'], b' [ "a",\r\n{"e":1}'),
    ],
)
def test_signs_follow_the_order(given: list[bytes], joined: bytes) -> None:
    joiner = framing.joiner(_core.ArraySplitter())
    assert joiner is not None
    assert b"".join(map(joiner.join, given)) == joined


def test_only_arrays_need_joining() -> None:
    assert framing.joiner(None) is None
    assert framing.joiner(_core.SseSplitter()) is None


def test_after_a_break_bytes_are_left_alone() -> None:
    cutter = _core.ArraySplitter()
    joiner = framing.joiner(cutter)
    assert joiner is not None
    assert cutter.feed(b"<html>") == [b"<html>"]
    assert joiner.join(b"[1") == b"[1"
    assert cutter.finish() == b""
    assert (joiner.join(b"2"), joiner.close()) == (b"2", b"")


@pytest.mark.parametrize("lead", [b"", b"[", b",\n", b"  [ "])
def test_another_element_takes_the_place_of_one(lead: bytes) -> None:
    event = lead + pack({"text": WORD})
    assert ELEMENTS.read(event) == ("", pack({"text": WORD}))
    assert SSE_OR_ELEMENTS.swap(event, b"{}") == lead + b"{}"
    assert SSE_OR_ELEMENTS.read(b" ]\n") is None
    assert SSE_OR_ELEMENTS.swap(b"data: {}\r\n\r\n", b"[]") == b"data: []\r\n\r\n"
