"""Messages as they are written: faultwire.mitm.native.writing."""

from __future__ import annotations

from mitmproxy import http

from faultwire.mitm.native.writing import MessageWriter


def response(**headers: str) -> http.Response:
    made = http.Response.make(200, b"", http.Headers([(k.encode(), v.encode()) for k, v in headers.items()]))
    made.headers.pop("content-length", None)
    return made


def test_each_piece_of_a_chunked_body_has_a_chunk_of_its_own() -> None:
    writer = MessageWriter()
    message = response()
    message.headers["transfer-encoding"] = "chunked"
    assert writer.head(message) == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    assert writer.data((b"hello", b"", b"!")) == b"5\r\nhello\r\n1\r\n!\r\n", "an empty one would end it"
    writer.trailers = http.Headers([(b"a", b"1")])
    assert writer.end() == b"0\r\na: 1\r\n\r\n"
    assert writer.end() == b"0\r\n\r\n", "trailers are of one message"


def test_other_bodies_are_written_as_they_are() -> None:
    writer = MessageWriter()
    message = response()
    message.headers["content-length"] = "6"
    writer.head(message)
    assert writer.data((b"hello", b"!")) == b"hello!"
    assert writer.end() == b""


def test_a_request_is_written_with_its_target() -> None:
    request = http.Request.make("GET", "http://a/b?c", headers={"host": "a"})
    request.headers.pop("content-length", None)
    assert MessageWriter().head(request) == b"GET /b?c HTTP/1.1\r\nhost: a\r\n\r\n"
