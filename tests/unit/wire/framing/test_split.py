"""faultwire.wire.framing.split and faultwire.wire.transcript.response."""

from __future__ import annotations

import gzip

import pytest
from tests.unit.wire.provider_shapes import SHAPES
from tests.unit.wire.shapes import pack

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import Response
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import MOST, ResponseObserver, response_view


@pytest.mark.parametrize(
    ("content_type", "made"),
    [
        ("text/event-stream", _core.SseSplitter),
        ("Text/Event-Stream; charset=utf-8", _core.SseSplitter),
        ("application/x-ndjson", _core.LineSplitter),
        ("application/jsonl", _core.LineSplitter),
        ("application/vnd.amazon.eventstream", _core.EventStreamSplitter),
    ],
)
def test_the_content_type_states_how_a_stream_is_framed(content_type: str, made: type) -> None:
    headers = (("Content-Type", content_type),)
    assert isinstance(framing.splitter(headers), made)
    assert framing.is_stream(headers)


@pytest.mark.parametrize("headers", [(), (("content-type", "application/json"),), (("content-type", ""),)])
def test_all_else_is_no_stream(headers: tuple[tuple[str, str], ...]) -> None:
    assert framing.splitter(headers) is None
    assert framing.events(b"x", headers) == [b"x"]
    assert framing.events(b"", headers) == []


def test_the_rest_of_a_cut_stream_is_its_last_event() -> None:
    headers = (("content-type", framing.NDJSON),)
    assert framing.events(b'{"a":1}\n{"b"', headers) == [b'{"a":1}\n', b'{"b"']


def streamed(name: str, *more: tuple[str, str], body: bytes | None = None) -> Response:
    shape = SHAPES[name]
    return Response(200, "OK", (("content-type", shape.stream_type), *more), body or shape.stream)


@pytest.mark.parametrize("name", SHAPES)
def test_responses_are_read_whole_framed_and_packed(name: str) -> None:
    protocol, shape = wire.protocol(name), SHAPES[name]
    whole = Response(200, "OK", (("content-type", "application/json"),), pack(shape.whole))
    plain = response_view(protocol, streamed(name))
    packed = streamed(name, ("content-encoding", "gzip"), body=gzip.compress(shape.stream))
    assert response_view(protocol, packed) == plain
    assert plain.text == response_view(protocol, whole).text == shape.text


def test_a_part_of_a_packed_stream_is_not_complete() -> None:
    body = gzip.compress(SHAPES["gemini"].stream, mtime=0)[:-9]
    found = response_view(
        wire.protocol("gemini"), streamed("gemini", ("content-encoding", "gzip"), body=body)
    )
    assert (found.complete, found.error) == (False, "the body is only a part")


def test_an_unknown_coding_is_a_wire_error() -> None:
    with pytest.raises(WireError, match="content coding"):
        response_view(wire.protocol("gemini"), streamed("gemini", ("content-encoding", "lzw")))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [1, 33, 100_000])
def test_an_observer_reads_the_calls_before_the_end(name: str, size: int) -> None:
    shape, response = SHAPES[name], streamed(name)
    observer = ResponseObserver(wire.protocol(name), response)
    heard = [observer.observe(shape.stream[at : at + size]) for at in range(0, len(shape.stream), size)]
    assert [call.name for call in heard[-1]] == ["get_weather"]
    assert [call.name for call in observer.end()] == ["get_weather"]


def test_an_observer_reads_whole_answers_at_their_end() -> None:
    head = Response(200, "OK", (("content-type", "application/json"),))
    observer = ResponseObserver(wire.protocol("openai_responses"), head)
    assert observer.observe(pack(SHAPES["openai_responses"].whole)) == ()
    assert [call.id for call in observer.end()] == ["call_a1"]


@pytest.mark.parametrize(
    ("status", "body"), [(500, b'{"output":[]}'), (200, b"<html>"), (200, b""), (200, b" " * (MOST + 1))]
)
def test_an_observer_reads_nothing_in_failures(status: int, body: bytes) -> None:
    observer = ResponseObserver(
        wire.protocol("openai_responses"), Response(status, "", (("content-type", "application/json"),))
    )
    observer.observe(body)
    assert observer.end() == ()
