"""AWS event streams: no byte is lost, and chunking changes no frame."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from faultwire import _core

names = st.text(alphabet="abc:-", min_size=1, max_size=12)
frames = st.builds(
    _core.eventstream_write,
    st.lists(st.tuples(names, st.text(max_size=20)), max_size=3),
    st.binary(max_size=60),
)
noise = st.binary(max_size=40)


def run(chunks: list[bytes]) -> tuple[list[bytes], bytes, bool]:
    splitter = _core.EventStreamSplitter()
    found = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    broken = splitter.broken is not None
    return found, splitter.finish(), broken


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place for place in at if place < len(stream))})
    return [stream[a:b] for a, b in pairwise(edges)]


@given(made=st.lists(frames, max_size=6), cuts=st.lists(st.integers(0, 600), max_size=20))
@settings(max_examples=500, deadline=None)
def test_frames_come_out_as_they_went_in(made: list[bytes], cuts: list[int]) -> None:
    assert run(cut(b"".join(made), cuts)) == (made, b"", False)


@given(
    made=st.lists(frames, max_size=3),
    junk=noise,
    more=st.lists(frames, max_size=2),
    cuts=st.lists(st.integers(0, 400)),
)
@settings(max_examples=500, deadline=None)
def test_no_byte_is_lost_whatever_comes(
    made: list[bytes], junk: bytes, more: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(made) + junk + b"".join(more)
    found, rest, broken = run(cut(stream, cuts))
    assert b"".join(found) + rest == stream
    assert found[: len(made)] == made
    assert broken or not junk or rest, "what is no frame never counts as one"


@given(frame=frames, at=st.integers(0, 200), bit=st.integers(0, 7))
@settings(max_examples=500, deadline=None)
def test_a_flipped_bit_is_always_noticed(frame: bytes, at: int, bit: int) -> None:
    place = at % len(frame)
    wrong = frame[:place] + bytes([frame[place] ^ (1 << bit)]) + frame[place + 1 :]
    with pytest.raises(ValueError, match="frame"):
        _core.eventstream_parse(wrong)


@given(headers=st.lists(st.tuples(names, st.text(max_size=20)), max_size=3), payload=noise, other=noise)
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read(headers: list[tuple[str, str]], payload: bytes, other: bytes) -> None:
    frame = _core.eventstream_write(headers, payload)
    assert _core.eventstream_parse(frame) == (headers, payload)
    assert _core.eventstream_with_payload(frame, other) == _core.eventstream_write(headers, other)
