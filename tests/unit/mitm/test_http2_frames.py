"""What is read off the headers of HTTP/2 frames, wherever their bytes are divided."""

from __future__ import annotations

import pytest
from hyperframe.frame import ContinuationFrame, DataFrame, HeadersFrame, PingFrame, SettingsFrame
from tests.attacks import raw_h2

from faultwire.mitm.compat import http2_frames as frames
from faultwire.mitm.compat.http2_frames import Allowance, FrameReader

BEGUN = HeadersFrame(1, data=b"x" * 10).serialize()
"""A header block that has not ended."""
MORE, LAST = (ContinuationFrame(1, data=b"y" * 10, flags=ends).serialize() for ends in ([], ["END_HEADERS"]))
WHOLE = HeadersFrame(1, data=b"x" * 10, flags=["END_HEADERS"]).serialize()
OTHER = PingFrame(0, opaque_data=b"12345678").serialize() + DataFrame(1, data=b"z" * 100).serialize()


def read(data: bytes, step: int, reader: FrameReader) -> str | None:
    for at in range(0, len(data), step):
        flaw = reader.feed(data[at : at + step], 0.0)
        if flaw is not None:
            return flaw
    return None


@pytest.mark.parametrize("step", [1, 2, 8, 9, 10, 100_000])
@pytest.mark.parametrize(
    ("data", "pending"),
    [
        (OTHER, False),
        (BEGUN, True),
        (BEGUN + MORE, True),
        (BEGUN + MORE + LAST, False),
        (BEGUN[:9], True),
        (WHOLE, False),
        (WHOLE[:-1], True),
        (WHOLE + OTHER + BEGUN, True),
        (BEGUN + LAST[:-1], True),
        (OTHER[:-1], False),
        (WHOLE[:8], False),
    ],
)
def test_a_block_is_pending_from_its_first_frame_to_its_last(data: bytes, pending: bool, step: int) -> None:
    reader = FrameReader(client=False)
    assert read(data, step, reader) is None
    assert bool(reader.pending) is pending


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_client_s_preface_is_pending_until_it_is_whole(step: int) -> None:
    reader = FrameReader(client=True)
    assert not reader.pending
    assert read(raw_h2.PREFACE[:-1], step, reader) is None
    assert reader.pending
    assert read(raw_h2.PREFACE[-1:] + SettingsFrame(0).serialize(), step, reader) is None
    assert not reader.pending
    assert read(BEGUN, step, reader) is None
    assert reader.pending


def test_two_blocks_have_two_numbers() -> None:
    reader = FrameReader(client=False)
    reader.feed(BEGUN, 0.0)
    first = reader.pending
    reader.feed(MORE, 0.0)
    assert reader.pending == first
    reader.feed(LAST + BEGUN, 0.0)
    assert reader.pending not in (0, first)


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("size", [0, 1])
def test_a_block_has_so_many_frames(size: int, step: int) -> None:
    more = ContinuationFrame(1, data=b"y" * size).serialize()
    reader = FrameReader(client=False)
    assert read(BEGUN + more * (frames.MOST_FRAMES - 1), step, reader) is None
    assert read(more, step, reader) == f"a header block in more than {frames.MOST_FRAMES} frames"


def test_a_block_has_so_many_bytes_and_the_next_has_as_many() -> None:
    half = b"y" * (frames.MOST_BYTES // 2)
    begun = HeadersFrame(1, data=half).serialize()
    reader = FrameReader(client=False)
    for _ in range(3):
        assert (
            reader.feed(begun + ContinuationFrame(1, data=half, flags=["END_HEADERS"]).serialize(), 0.0)
            is None
        )
    assert reader.feed(begun + ContinuationFrame(1, data=half + b"y").serialize(), 0.0) == (
        f"a header block of more than {frames.MOST_BYTES} bytes"
    )


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize(("size", "taken"), [(frames.LONGEST, True), (frames.LONGEST + 1, False)])
def test_a_frame_s_length_is_read_before_the_frame(size: int, taken: bool, step: int) -> None:
    reader = FrameReader(client=False)
    flaw = read(size.to_bytes(3, "big") + bytes(6), step, reader)
    assert (flaw is None) is taken, flaw


def test_settings_have_an_allowance_and_their_acknowledgements_need_none() -> None:
    reader = FrameReader(client=False)
    acks = SettingsFrame(0, flags=["ACK"]).serialize() * 1000
    assert reader.feed(acks + SettingsFrame(0).serialize() * frames.MOST_SETTINGS, 0.0) is None
    assert reader.feed(SettingsFrame(0).serialize(), 0.0) == "more than 100 frames of settings"
    reader = FrameReader(client=False)
    for second in range(1000):
        assert reader.feed(SettingsFrame(0).serialize(), float(second)) is None


def test_an_allowance_comes_back_with_time_and_never_exceeds_itself() -> None:
    allowance = Allowance(2, 0.5)
    assert [allowance.take(0.0) for _ in range(3)] == [True, True, False]
    assert [allowance.take(1.0), allowance.take(2.0), allowance.take(2.0)] == [False, True, False]
    assert [allowance.take(1000.0) for _ in range(3)] == [True, True, False]
    assert not allowance.take(0.0), "a clock that goes back gives nothing"
