"""SSE and NDJSON framing (`faultwire._core`, module sse)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faultwire import _core

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "sse.json").read_text())["cases"]


def split(stream: bytes, size: int) -> tuple[list[bytes], bytes]:
    splitter = _core.SseSplitter()
    events: list[bytes] = []
    for at in range(0, len(stream), size):
        events += splitter.feed(stream[at : at + size])
    return events, splitter.finish()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vectors_at_every_chunk_size(case):
    stream = case["stream"].encode()
    expected = [event.encode() for event in case["events"]]
    for size in range(1, len(stream) + 1):
        assert split(stream, size) == (expected, case["rest"].encode()), size


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_parsed_vectors(case):
    for event, parsed in zip(case["events"], case["parsed"], strict=True):
        expected = parsed and (parsed[0], parsed[1].encode(), *parsed[2:])
        assert _core.sse_parse(event.encode()) == expected


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\n\n", b"\n\r\n", b"\r\r\n"])
def test_an_event_that_ends_in_lf_is_released_at_once(end):
    splitter = _core.SseSplitter()
    assert splitter.feed(b"data: a" + end) == [b"data: a" + end]
    assert splitter.pending == 0


def test_a_cr_event_waits_for_one_byte():
    splitter = _core.SseSplitter()
    assert splitter.feed(b"data: a\r\r") == []
    assert splitter.pending == 9
    assert splitter.feed(b"d") == [b"data: a\r\r"]
    assert splitter.finish() == b"d"


def test_finish_makes_the_splitter_as_new():
    splitter = _core.SseSplitter()
    splitter.feed(b"data: a\r\n\r")
    assert splitter.finish() == b"data: a\r\n\r"
    assert splitter.finish() == b""
    assert splitter.feed(b"\xef\xbb\xbf\n\n") == [b"\xef\xbb\xbf\n", b"\n"]


def test_ten_megabytes_in_one_line():
    event = b"data: " + b"x" * 10_000_000 + b"\n\n"
    assert split(event, 4096) == ([event], b"")
    assert _core.sse_parse(event) == (None, event[6:-2], None, None)


def test_bytes_that_are_not_utf8_survive():
    event = b"event: \xff\ndata: \xfe\xff\nid: \xc3\n\n"
    assert split(event, 3) == ([event], b"")
    assert _core.sse_parse(event) == ("\ufffd", b"\xfe\xff", "\ufffd", None)


def test_the_rest_of_a_cut_stream_can_be_read():
    assert _core.sse_parse(b'event: x\ndata: {"a"') == ("x", b'{"a"', None, None)
    assert _core.sse_parse(b"") is None


def test_retry_that_overflows_is_none():
    assert _core.sse_parse(b"retry: 99999999999999999999\ndata:\n\n") == (None, b"", None, None)


def test_lines():
    splitter = _core.LineSplitter()
    assert splitter.feed(b'{"a":1}\r\n\n{"b"') == [b'{"a":1}\r\n', b"\n"]
    assert splitter.pending == 4
    assert splitter.feed(b":2}\n{") == [b'{"b":2}\n']
    assert splitter.finish() == b"{"
    assert splitter.pending == 0
