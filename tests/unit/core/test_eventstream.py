"""faultwire._core: AWS event streams."""

from __future__ import annotations

import pytest
from tests.unit.wire.shapes import GOLDEN

from faultwire import _core

GOLD = (GOLDEN / "bedrock_eventstream.bin").read_bytes()
HEADERS = [(":event-type", "chunk"), (":message-type", "event")]


def split(stream: bytes, size: int) -> tuple[list[bytes], bytes, str | None]:
    splitter = _core.EventStreamSplitter()
    found = [f for at in range(0, len(stream), size) for f in splitter.feed(stream[at : at + size])]
    broken = splitter.broken
    return found, splitter.finish(), broken


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_any_chunking_gives_the_same_frames(size: int) -> None:
    found, rest, broken = split(GOLD, size)
    assert (found, rest, broken) == split(GOLD, len(GOLD))
    assert b"".join(found) == GOLD
    assert [dict(_core.eventstream_parse(frame)[0])[":event-type"] for frame in found][-1] == "metadata"


def test_an_unfinished_frame_is_the_rest() -> None:
    found, rest, broken = split(GOLD[:-1], 50)
    assert b"".join(found) + rest == GOLD[:-1]
    assert rest
    assert broken is None


def test_what_is_written_is_read() -> None:
    frame = _core.eventstream_write(HEADERS, b'{"a":1}')
    assert _core.eventstream_parse(frame) == (HEADERS, b'{"a":1}')
    assert _core.eventstream_parse(_core.eventstream_with_payload(frame, b"{}")) == (HEADERS, b"{}")


def test_the_golden_frames_are_written_the_same_again() -> None:
    for frame in split(GOLD, len(GOLD))[0]:
        headers, payload = _core.eventstream_parse(frame)
        assert _core.eventstream_write(headers, payload) == frame


def test_headers_of_other_types_are_kept_and_passed_over() -> None:
    headers = b"\x01a\x00" + b"\x01b\x04\x00\x00\x00\x07" + b"\x01c\x07\x00\x01x"
    made = _core.eventstream_write([("c", "x")], b"one")
    body = len(headers)
    # Built by hand: the writer makes text headers only.
    import zlib

    prelude = (16 + body + 3).to_bytes(4, "big") + body.to_bytes(4, "big")
    frame = prelude + zlib.crc32(prelude).to_bytes(4, "big") + headers + b"one"
    frame += zlib.crc32(frame).to_bytes(4, "big")
    assert _core.eventstream_parse(frame) == _core.eventstream_parse(made)
    assert headers in _core.eventstream_with_payload(frame, b"two")


def test_a_wrong_byte_is_noticed() -> None:
    frame = split(GOLD, len(GOLD))[0][0]
    for at in range(len(frame)):
        wrong = frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]
        with pytest.raises(ValueError, match=r"checksum|frame"):
            _core.eventstream_parse(wrong)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_after_a_wrong_prelude_every_byte_is_passed_on(size: int) -> None:
    stream = GOLD + b"HTTP/1.1 502 Bad Gateway\r\n" + GOLD
    found, rest, broken = split(stream, size)
    assert b"".join(found) + rest == stream
    assert broken
    assert found[: len(split(GOLD, 99)[0])] == split(GOLD, 99)[0]


def test_a_length_that_nobody_sends_is_not_waited_for() -> None:
    import zlib

    prelude = (1 << 31).to_bytes(4, "big") + (0).to_bytes(4, "big")
    stream = prelude + zlib.crc32(prelude).to_bytes(4, "big")
    found, rest, broken = split(stream, 4)
    assert (b"".join(found), rest) == (stream, b"")
    assert broken


@pytest.mark.parametrize("headers", [[("", "x")], [("n" * 256, "x")], [("n", "x" * 65536)]])
def test_headers_that_do_not_fit_are_refused(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="header"):
        _core.eventstream_write(headers, b"")
