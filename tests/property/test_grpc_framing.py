"""gRPC frames: no byte is lost, and chunking changes no frame."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from faultwire import _core

frames = st.builds(
    lambda message, compressed: _core.grpc_write(message, compressed=compressed),
    st.binary(max_size=60),
    st.booleans(),
)
junk = st.binary(max_size=40)
cuts = st.lists(st.integers(0, 600), max_size=20)


def run(chunks: list[bytes]) -> tuple[list[bytes], bytes, bool]:
    splitter = _core.GrpcSplitter()
    found = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    broken = splitter.broken is not None
    return found, splitter.finish(), broken


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place for place in at if place < len(stream))})
    return [stream[a:b] for a, b in pairwise(edges)]


@given(made=st.lists(frames, max_size=6), at=cuts)
@settings(max_examples=500, deadline=None)
def test_frames_come_out_as_they_went_in(made: list[bytes], at: list[int]) -> None:
    assert run(cut(b"".join(made), at)) == (made, b"", False)


@given(made=st.lists(frames, max_size=3), noise=junk, more=st.lists(frames, max_size=2), at=cuts)
@settings(max_examples=500, deadline=None)
def test_no_byte_is_lost_whatever_comes(
    made: list[bytes], noise: bytes, more: list[bytes], at: list[int]
) -> None:
    stream = b"".join(made) + noise + b"".join(more)
    found, rest, broken = run(cut(stream, at))
    assert b"".join(found) + rest == stream
    assert found[: len(made)] == made
    one_found, one_rest, one_broken = run([stream])
    assert broken is one_broken, "whether frames end does not depend on the chunking"
    if not broken:
        assert (found, rest) == (one_found, one_rest)


@given(message=junk, compressed=st.booleans(), rest=st.binary(min_size=1, max_size=9))
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_and_nothing_else_is(message: bytes, compressed: bool, rest: bytes) -> None:
    frame = _core.grpc_write(message, compressed=compressed)
    assert _core.grpc_parse(frame) == (compressed, message)
    for wrong in (frame[:-1], frame + rest, bytes([2]) + frame[1:]):
        with pytest.raises(ValueError, match="frame"):
            _core.grpc_parse(wrong)


def test_a_message_that_is_too_long_is_never_held() -> None:
    splitter = _core.GrpcSplitter()
    assert splitter.feed(b"\x00\xff\xff") == []
    assert splitter.feed(b"\xff\xffabc") == [b"\x00\xff\xff\xff\xffabc"]
    assert splitter.broken == "a message of 4294967295 bytes is longer than 16777216"
    assert (splitter.feed(b"more"), splitter.pending) == ([b"more"], 0)
    with pytest.raises(ValueError, match="longer than"):
        _core.grpc_write(bytes((16 << 20) + 1))


def fuzz(rounds: int) -> int:
    """Streams of frames and junk in chunks of any size; how many of them broke."""
    chance = random.Random(20261122)
    broke = 0
    for _ in range(rounds):
        parts = []
        for _ in range(chance.randrange(4)):
            parts.append(
                _core.grpc_write(chance.randbytes(chance.randrange(24)), compressed=chance.random() < 0.5)
            )
            if chance.random() < 0.1:
                parts.append(chance.randbytes(chance.randrange(1, 8)))
        stream = b"".join(parts)
        chunks, at = [], 0
        while at < len(stream):
            size = chance.randrange(1, 16)
            chunks.append(stream[at : at + size])
            at += size
        found, rest, broken = run(chunks)
        assert b"".join(found) + rest == stream
        assert broken is run([stream])[2]
        broke += broken
    return broke


def test_fuzz_briefly() -> None:
    assert 0 < fuzz(20_000) < 20_000, "both kinds of stream were met"


@pytest.mark.nightly
def test_fuzz_a_million() -> None:
    assert 0 < fuzz(1_000_000) < 1_000_000
