"""Heads in a connection's buffer, ends of chunks, and requests in what is written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import h11
import pytest
from mitmproxy.http import Headers
from mitmproxy.proxy import commands

from faultwire.mitm.compat.heads import (
    HeadBuffer,
    StrictChunkedReader,
    request_flaw,
    response_flaw,
    trailers_flaw,
)
from faultwire.mitm.compat.http1 import Written
from faultwire.mitm.flow import request_balance


def test_a_head_is_seen_once_it_is_whole() -> None:
    buffer = HeadBuffer()
    data = b"\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\nrest"
    for at in range(len(data) - 5):
        buffer += data[at : at + 1]
        assert buffer.head() is None
    buffer += data[-5:]
    assert buffer.head() == b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
    assert buffer.maybe_extract_lines() == [b"GET / HTTP/1.1", b"host: a"]
    assert bytes(buffer) == b"rest"
    assert buffer.head() is None


def test_flaws_of_both_protocols() -> None:
    assert request_flaw(b"GET / HTTP/1.1\nhost: a\r\n\r\n") == "a line ends without a carriage return"
    assert request_flaw([(b":method", b"GET")]) == "a pseudo-header field is missing"
    assert response_flaw(b"HTTP/1.1 200 OK\r\n\r\n") is None
    assert response_flaw([(b":status", b"2\r\n")]) == "the status is not three digits"
    assert trailers_flaw(Headers([(b"X", b"y")]), http2=False) is None
    assert trailers_flaw([(b"X", b"y")], http2=True) == "a field name holds an upper-case letter"


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(
    ("end", "passes"), [(b"\r\n", True), (b"XX", False), (b"\rX", False), (b"\n\n", False)]
)
def test_a_chunk_ends_with_crlf_alone(end: bytes, passes: bool, size: int) -> None:
    reader, buffer = StrictChunkedReader(), HeadBuffer()
    parts, ends = list[bytes](), list[h11.EndOfMessage]()
    data = b"5\r\nhello" + end + b"0\r\n\r\n"

    def read() -> None:
        for at in range(0, len(data), size):
            buffer.__iadd__(data[at : at + size])
            if (ended := reader.read(buffer, parts)) is not None:
                ends.append(ended)

    if passes:
        read()
        assert [type(end) for end in ends] == [h11.EndOfMessage]
    else:
        with pytest.raises(h11.RemoteProtocolError, match="does not end with CRLF"):
            read()
        assert ends == []
    assert b"".join(parts) == b"hello", "what came before the flaw is there"


def test_all_chunks_that_came_are_read_at_once_and_a_flaw_comes_behind_them() -> None:
    reader, buffer, parts = StrictChunkedReader(), HeadBuffer(), list[bytes]()
    buffer.__iadd__(b"1\r\na\r\n2\r\nbc\r\n3\r\nde")
    assert reader.read(buffer, parts) is None
    assert parts == [b"a", b"bc", b"de"]
    buffer.__iadd__(b"f\r\nz\r\n")
    with pytest.raises(h11.ProtocolError, match="illegal chunk header"):
        reader.read(buffer, parts)
    assert parts == [b"a", b"bc", b"de", b"f"]
    reader, parts = StrictChunkedReader(), []
    buffer = HeadBuffer()
    buffer.__iadd__(b"1\r\na\r\n0\r\nx: y\r\n\r\nnext")
    ended = reader.read(buffer, parts)
    assert ended is not None
    assert ended.headers.raw_items() == [(b"x", b"y")]
    assert (parts, bytes(buffer)) == ([b"a"], b"next")


def test_what_is_written_is_counted_for_the_innermost_layer() -> None:
    told: list[tuple[int, int]] = []
    outer = SimpleNamespace(requests_written=lambda *_: pytest.fail("the outer layer"))
    inner = SimpleNamespace(requests_written=lambda stream, count: told.append((stream, count)))
    context: Any = SimpleNamespace(layers=[outer, inner, SimpleNamespace()])
    connection, other = object(), object()
    written = Written(context, http2=False)
    two = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    todo: Any = [commands.SendData(other, two), commands.SendData(connection, two)]  # type: ignore[arg-type]
    assert list(written.seen(todo, connection, 7)) == todo  # type: ignore[arg-type]
    assert told == [(7, 2)]
    written.stop()
    list(written.seen(todo, connection, 7))  # type: ignore[arg-type]
    assert told == [(7, 2)]


class Session(SimpleNamespace):
    def void(self, reason: str) -> None:
        self.voids.append(reason)


def test_a_session_whose_counts_differ_is_void() -> None:
    def session(written: int, recorded: int) -> Any:
        return Session(
            name="s",
            exchanges=1,
            requests_written=written,
            requests_recorded=recorded,
            voids=[],
            incomplete=None,
        )

    even, odd = session(3, 3), session(3, 3)
    request_balance.written(None, [odd], 2)
    dropped: list[Any] = []
    tape: Any = SimpleNamespace(drop=lambda exchange, reason: dropped.append((exchange.number, reason)))
    request_balance.settle(even, tape)
    assert (even.voids, even.incomplete, dropped) == ([], None, [])
    request_balance.settle(odd, tape)
    reason = "5 requests were written to servers, and 3 of them are recorded as exchanges"
    assert odd.voids == [reason]
    assert odd.incomplete == f"the tape is incomplete: {reason}"
    assert dropped == [(2, reason)]


@pytest.mark.parametrize(
    ("target", "passes"),
    [
        (b"http://x/", True),
        (b"ws+unix://x/", True),
        (b"\x80http://x/", False),
        (b"://x/", False),
        (b"1a://x/", False),
    ],
)
def test_the_scheme_of_a_target_is_one(target: bytes, passes: bool) -> None:
    flaw = request_flaw(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (flaw is None) is passes


@pytest.mark.parametrize("pieces", [(b"\n\n",), (b"\n", b"\n"), (b"\nGET / HTTP/1.1\r\n\r\n",)])
def test_a_line_feed_in_front_is_no_empty_line_however_it_comes(pieces: tuple[bytes, ...]) -> None:
    buffer = HeadBuffer()
    for piece in pieces:
        buffer += piece
        if buffer.head() is None:
            assert buffer.maybe_extract_lines() is None
    head = buffer.head()
    assert head is not None
    assert head.startswith(b"\n")
    assert request_flaw(head) is not None
    control = HeadBuffer()
    control += b"\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    assert control.head() == b"GET / HTTP/1.1\r\n\r\n", "empty lines are dropped (RFC 9112 §2.2)"
