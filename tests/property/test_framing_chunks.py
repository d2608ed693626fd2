"""However a stream is divided on its way, the same events come out, and the same bytes (RFC 8259, WHATWG
HTML §9.2.5, Amazon Event Stream, NDJSON). What is malformed passes unchanged and is noted.

The streams are made from a seed: a failure names it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import Request, Response
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import response_view

MANY = 10_000
LONG = 10 << 20
"""Bytes of one line, one element, one frame's payload."""

CASES = [pytest.param(MANY, id="10k"), pytest.param(100_000, marks=pytest.mark.nightly, id="100k")]
TEXTS = ["", "a", "\u00e9\u4e2d\U0001f600", "]", "}", "{[", '"', "\\", "\n", ",", "data: x", "\ud800"]
ENDS = [b"\n", b"\r\n", b"\r"]
LINES = [b"data: a", b"data:", b"data", b"event: x", b": c", b":", b"id: 1", b"retry: 9", b"x", b"\xff", b""]


def value(dice: random.Random, depth: int = 0) -> object:
    kind = dice.randrange(9 if depth < 4 else 5)
    if kind < 2:
        return dice.choice([None, True, False, 0, -1.5e300, 12])
    if kind < 5:
        return "".join(dice.choices(TEXTS, k=dice.randrange(4)))
    if kind < 7:
        return [value(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {dice.choice(TEXTS): value(dice, depth + 1) for _ in range(dice.randrange(4))}


def packed(dice: random.Random) -> bytes:
    indent = dice.choice([None, None, 2])
    return json.dumps(value(dice), indent=indent, ensure_ascii=dice.random() < 0.5).encode(
        errors="surrogatepass"
    )


def sse_stream(dice: random.Random) -> bytes:
    bom = b"\xef\xbb\xbf" * dice.choice([0, 0, 0, 1])
    return bom + b"".join(dice.choice(LINES) + dice.choice(ENDS) for _ in range(dice.randrange(24)))


def line_stream(dice: random.Random) -> bytes:
    lines = [packed(dice).replace(b"\n", b" ") + dice.choice(ENDS[:2]) for _ in range(dice.randrange(8))]
    return b"".join(lines) + dice.choice([b"", b"{"])


def frame_stream(dice: random.Random) -> bytes:
    frames = [
        _core.eventstream_write(
            [(":event-type", dice.choice(["a", "bc"]))], dice.randbytes(dice.randrange(40))
        )
        for _ in range(dice.randrange(6))
    ]
    return b"".join(frames)


def array_stream(dice: random.Random) -> bytes:
    blank = [b"", b" ", b"\r\n", b"\t"]
    elements = [packed(dice) for _ in range(dice.randrange(6))]
    comma = dice.choice(blank) + b"," + dice.choice(blank)
    ends = dice.choice(blank), dice.choice(blank)
    return ends[0] + b"[" + ends[1] + comma.join(elements) + ends[0] + b"]" + ends[1]


FRAMINGS: dict[str, tuple[Callable[[], framing.Splitter], Callable[[random.Random], bytes]]] = {
    "sse": (_core.SseSplitter, sse_stream),
    "ndjson": (_core.LineSplitter, line_stream),
    "eventstream": (_core.EventStreamSplitter, frame_stream),
    "array": (_core.ArraySplitter, array_stream),
}


def cut(dice: random.Random, stream: bytes) -> list[bytes]:
    """In one of three ways: byte by byte, in equal pieces, or anywhere."""
    way = dice.randrange(3)
    size = dice.randrange(1, 9)
    if way == 0 or not stream:
        places = list(range(len(stream) + 1))
    elif way == 1:
        places = [*range(0, len(stream), size), len(stream)]
    else:
        places = sorted({0, len(stream), *(dice.randrange(len(stream)) for _ in range(size))})
    return [stream[a:b] for a, b in pairwise(places)]


def run(make: Callable[[], framing.Splitter], chunks: list[bytes]) -> tuple[list[bytes], bytes, object]:
    splitter = make()
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    flaw = framing.flaw(splitter)
    return events, splitter.finish(), flaw


@pytest.mark.parametrize("name", FRAMINGS)
@pytest.mark.parametrize("count", CASES)
def test_any_division_gives_the_same_events(name: str, count: int) -> None:
    make, stream_of = FRAMINGS[name]
    for seed in range(count):
        dice = random.Random(f"{name} {seed}")
        stream = stream_of(dice)
        whole = run(make, [stream])
        assert b"".join(whole[0]) + whole[1] == stream, seed
        assert run(make, cut(dice, stream)) == whole, seed
        assert whole[2] is None, seed


@pytest.mark.parametrize("count", CASES)
def test_an_array_s_elements_are_what_a_parser_finds(count: int) -> None:
    for seed in range(count):
        dice = random.Random(f"elements {seed}")
        stream = array_stream(dice)
        events, rest, _ = run(_core.ArraySplitter, cut(dice, stream))
        texts = [event.strip().removeprefix(b"[").removeprefix(b",") for event in events]
        expected = json.loads(stream.decode(errors="surrogatepass"))
        if len(events) == len(expected):
            found = [json.loads(text.decode(errors="surrogatepass")) for text in texts]
        else:
            found = None
        assert found == expected, seed
        assert rest.strip() == (b"]" if expected else b"[" + stream.strip()[1:-1] + b"]"), seed


def damaged(dice: random.Random, stream: bytes) -> bytes:
    """With a few bytes changed, lost or added."""
    out = bytearray(stream)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(out) + 1)
        way = dice.randrange(3)
        if way == 0:
            out[at:at] = dice.choice([b"}", b"]", b'"', b"\\", b"\0", b"[", b"\r", b"\n", b"\xff"])
        elif way == 1:
            del out[at : at + dice.randrange(1, 5)]
        elif at < len(out):
            out[at] ^= 1 << dice.randrange(8)
    return bytes(out)


@pytest.mark.parametrize("name", FRAMINGS)
@pytest.mark.parametrize("count", CASES)
def test_no_byte_of_a_damaged_stream_is_lost(name: str, count: int) -> None:
    make, stream_of = FRAMINGS[name]
    for seed in range(count):
        dice = random.Random(f"damaged {name} {seed}")
        stream = damaged(dice, stream_of(dice))
        whole, divided = run(make, [stream]), run(make, cut(dice, stream))
        assert b"".join(whole[0]) + whole[1] == stream, seed
        assert b"".join(divided[0]) + divided[1] == stream, seed
        assert whole[2] == divided[2], seed
        if whole[2] is None:
            assert divided == whole, seed


@pytest.mark.parametrize("piece", [1 << 20, 65_537])
@pytest.mark.parametrize(
    ("make", "before", "after"),
    [
        (_core.SseSplitter, b"data: ", b"\r\n\r\n"),
        (_core.SseSplitter, b": ", b"\n\n"),
        (_core.LineSplitter, b'{"a":"', b'"}\n'),
        (_core.ArraySplitter, b'[{"a":"', b'"}'),
    ],
)
def test_ten_megabytes_are_one_event(
    make: Callable[[], framing.Splitter], before: bytes, after: bytes, piece: int
) -> None:
    stream = before + b"x" * LONG + after
    chunks = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    assert run(make, chunks) == ([stream], b"", None)


def test_ten_megabytes_are_one_frame() -> None:
    stream = _core.eventstream_write([(":event-type", "chunk")], b"x" * LONG)
    chunks = [stream[at : at + 65_537] for at in range(0, len(stream), 65_537)]
    assert run(_core.EventStreamSplitter, chunks) == ([stream], b"", None)


ARRAY = Request("POST", "https", "h", 443, "/v1beta/models/m:streamGenerateContent")
STREAMS = {
    "openai_chat": (framing.SSE, b'data: {"choices": ['),
    "anthropic": (framing.SSE, b'event: content_block_delta\ndata: {"type": "content_block_delta"'),
    "openai_responses": (framing.SSE, b'data: {"type": "response.output_text.delta"'),
    "gemini": (framing.SSE, b'data: {"candidates": ['),
    "cohere": (framing.SSE, b'data: {"type": "content-delta"'),
    "ollama": (framing.NDJSON, b'{"message": {"content": "x"}'),
    "bedrock": (framing.EVENT_STREAM, b"\0\0\0\x20 no frame"),
    "bedrock_invoke": (framing.EVENT_STREAM, b"HTTP/1.1 502 Bad Gateway"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_cannot_be_read_is_noted(name: str) -> None:
    content_type, stream = STREAMS[name]
    protocol = wire.protocol(name)
    head = (("content-type", content_type),)
    for ending in (b"", b"\n\n"):
        found = response_view(protocol, Response(200, "OK", head, stream + ending))
        assert found.error, "a WireError's message"
        assert not found.complete
        editor = protocol.truncator(1)
        events = framing.events(stream + ending, head)
        assert b"".join(piece for event in events for piece in editor.feed(event)) == stream + ending


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("count", [pytest.param(1_000, id="1k"), *CASES[1:]])
def test_no_body_upsets_a_protocol(name: str, count: int) -> None:
    """It is read, or is a WireError; nothing else ever comes of it."""
    protocol = wire.protocol(name)
    reads: list[Callable[[bytes], object]] = [
        protocol.request_view,
        lambda body: protocol.response_view(200, body),
        lambda body: protocol.response_view(500, body),
        lambda body: protocol.truncate(body, 3),
        lambda body: protocol.edits.texts(body),
    ]
    refused = 0
    for seed in range(count):
        dice = random.Random(f"body {name} {seed}")
        body = damaged(dice, packed(dice)) if seed % 2 else packed(dice)
        for read in reads:
            try:
                read(body)
            except WireError as error:
                refused += bool(error.message)
    assert refused, "much of it is none of the protocol's"
