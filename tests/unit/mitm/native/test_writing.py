"""Messages as they are written: faultwire.mitm.native.writing."""

from __future__ import annotations

import pytest
from mitmproxy import http
from mitmproxy.net.http import http1

from faultwire.mitm.messages.convert import ReadFields
from faultwire.mitm.native.reading import read_request, read_response
from faultwire.mitm.native.writing import MessageWriter, ends_connection


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


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
@pytest.mark.parametrize("asked", [None, "close", "keep-alive", "x, Close"])
@pytest.mark.parametrize("given", [None, "close", "keep-alive", "x, Close"])
@pytest.mark.parametrize("framed", ["length", "chunks", "nothing", "gzip"])
@pytest.mark.parametrize("status", [200, 204])
def test_a_connection_ends_where_mitmproxy_ends_it(
    version: str, asked: str | None, given: str | None, framed: str, status: int
) -> None:
    request = http.Request.make("GET", "http://a/")
    answer = response()
    answer.status_code = status
    request.http_version, answer.http_version = "HTTP/1.1", version
    for message, value in ((request, asked), (answer, given)):
        if value is not None:
            message.headers["connection"] = value
    framing = {"length": ("content-length", "0"), "chunks": ("transfer-encoding", "chunked")}
    name, value = framing.get(framed, ("transfer-encoding", "gzip"))
    if framed != "nothing":
        answer.headers[name] = value
    closes = http1.connection_close(request.http_version, request.headers) or http1.connection_close(
        answer.http_version, answer.headers
    )
    until_close = http1.expected_http_body_size(request, answer) == -1
    assert ends_connection(request, answer) is (closes or until_close)


FIELDS = (("Host", "a.example"), ("X-Odd", "\xe9 "), ("x-odd", ""))


def test_a_head_that_nobody_changed_is_written_as_by_mitmproxy() -> None:
    request = read_request("POST", "/a?b=\xe9", "HTTP/1.1", FIELDS)
    response = read_response(299, "HTTP/1.0", "So \xe9", FIELDS)
    for message in (request, response):
        read = MessageWriter().head(message)
        assert type(message.headers) is ReadFields
        assert message.headers.text is FIELDS, "of which nothing was made"
        message.headers = http.Headers(message.headers.fields)
        assert read == MessageWriter().head(message)


def test_a_head_that_was_changed_is_written_changed() -> None:
    request = read_request("POST", "/", "HTTP/1.1", FIELDS)
    del request.headers["x-odd"]
    assert MessageWriter().head(request) == b"POST / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    request = read_request("POST", "/", "HTTP/1.1", FIELDS[:1])
    request.method, request.path = "PUT", "/x"
    assert MessageWriter().head(request) == b"PUT /x HTTP/1.1\r\nHost: a.example\r\n\r\n"
    request.data.scheme, request.data.authority = b"https", b"a.example"
    assert MessageWriter().head(request).startswith(b"PUT https://a.example/x HTTP/1.1\r\n")
