"""Any chunking gives the same events, and no byte is lost (WHATWG HTML §9.2.5)."""

from __future__ import annotations

import itertools
import re  # the judge must not be the core

from hypothesis import given, strategies as st

from faultwire import _core

PARTS = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"data: a",
    b"data:",
    b"event: x",
    b": c",
    b"id: 1",
    b"\xef\xbb\xbf",
    b"\xef",
    b"x",
]
streams = st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join) | st.binary(max_size=200)
cuts = st.lists(st.integers(0, 200), max_size=20)


def chunks(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


def run(splitter: _core.SseSplitter | _core.LineSplitter, parts: list[bytes]) -> tuple[list[bytes], bytes]:
    pieces = [piece for part in parts for piece in splitter.feed(part)]
    return pieces, splitter.finish()


def expected_pieces(stream: bytes) -> tuple[list[bytes], bytes]:
    """The same rule, on the whole stream: cut after each blank line whose end is certain."""
    pieces, start, content = [], 0, 3 if stream.startswith(b"\xef\xbb\xbf") else 0
    for end in re.finditer(rb"\r\n|\n|\r", stream):
        if end.start() == content and not (end[0] == b"\r" and end.end() == len(stream)):
            pieces.append(stream[start : end.end()])
            start = end.end()
        content = end.end()
    return pieces, stream[start:]


@given(streams, cuts)
def test_sse_chunking_never_matters(stream, cuts):
    found = run(_core.SseSplitter(), chunks(stream, cuts))
    assert found == expected_pieces(stream)
    assert b"".join(found[0]) + found[1] == stream


@given(streams)
def test_sse_byte_by_byte(stream):
    parts = [stream[at : at + 1] for at in range(len(stream))]
    assert run(_core.SseSplitter(), parts) == run(_core.SseSplitter(), [stream])


@given(streams, cuts)
def test_line_chunking_never_matters(stream, cuts):
    pieces, rest = run(_core.LineSplitter(), chunks(stream, cuts))
    assert [*pieces, rest] == [part + b"\n" for part in stream.split(b"\n")[:-1]] + [stream.split(b"\n")[-1]]


def expected_event(event: bytes) -> tuple[str | None, bytes, str | None, int | None] | None:
    """The processing model of the standard, written as it reads."""
    name, data, id_, retry = None, [], None, None
    for line in re.split(rb"\r\n|\n|\r", event.removeprefix(b"\xef\xbb\xbf")):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode(errors="replace")
        elif field == b"data":
            data.append(value)
        elif field == b"id" and b"\0" not in value:
            id_ = value.decode(errors="replace")
        elif field == b"retry" and re.fullmatch(rb"[0-9]+", value):
            retry = int(value)
    return (name, b"\n".join(data), id_, retry) if data or name is not None else None


FIELDS = [
    b"data",
    b"event",
    b"id",
    b"retry",
    b":",
    b": ",
    b"5",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xff",
    b"\0",
    b"x",
    b" ",
]


@given(st.lists(st.sampled_from(FIELDS), max_size=30).map(b"".join) | st.binary(max_size=60))
def test_parse_follows_the_standard(event):
    assert _core.sse_parse(event) == expected_event(event)
