from __future__ import annotations

import pytest

from faultwire.events import Headers
from faultwire.wire.framing import sse
from faultwire.wire.framing.sse import Fields


@pytest.mark.parametrize(
    ("headers", "is_one"),
    [
        ((("Content-Type", "text/event-stream"),), True),
        ((("content-type", "Text/Event-Stream; charset=utf-8"),), True),
        ((("content-type", "application/json"),), False),
        ((), False),
    ],
)
def test_is_sse(headers: Headers, is_one: bool) -> None:
    assert sse.is_sse(headers) is is_one


def test_events_join_to_the_stream() -> None:
    stream = b": hi\n\nevent: a\ndata: 1\n\ndata: 2\r\n\r\ndata: rest"
    assert sse.events(stream) == [b": hi\n\n", b"event: a\ndata: 1\n\n", b"data: 2\r\n\r\n", b"data: rest"]


def test_fields() -> None:
    assert sse.fields(b"event: a\ndata: 1\ndata: 2\n\n") == Fields("a", b"1\n2")
    assert sse.fields(b"data:1\n\n") == Fields("", b"1")
    assert sse.fields(b": comment\n\n") is None


def test_write_is_read_again() -> None:
    assert sse.fields(sse.write(b"{}", "x")) == Fields("x", b"{}")
    assert sse.write(b"{}") == b"data: {}\n\n"


@pytest.mark.parametrize(
    ("event", "new"),
    [
        (b"data: 1\n\n", b"data: NEW\n\n"),
        (b"data:1\n\n", b"data:NEW\n\n"),
        (b"id: 3\r\nevent: x\r\ndata: 1\r\n: c\r\n\r\n", b"id: 3\r\nevent: x\r\ndata: NEW\r\n: c\r\n\r\n"),
        (b"data: 1\ndata: 2\nid: 4\n\n", b"data: NEW\nid: 4\n\n"),
        (b"\xef\xbb\xbfdata: 1\n\n", b"\xef\xbb\xbfdata: NEW\n\n"),
        (b"data\n\n", b"data:NEW\n\n"),
        (b"data: 1", b"data: NEW"),
        (b"database: 1\n\n", b"database: 1\n\n"),
        (b": only a comment\n\n", b": only a comment\n\n"),
    ],
)
def test_with_data_keeps_every_other_line(event: bytes, new: bytes) -> None:
    assert sse.with_data(event, b"NEW") == new
