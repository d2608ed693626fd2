"""Heads of HTTP messages: what passes, and what is found wrong with the rest."""

from __future__ import annotations

import pytest
from tests.attacks import payloads

from faultwire import _core

HEAD = b"%s\r\nHost: a.test\r\n%s\r\n"
H2 = [(b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/v1?x=1"), (b":authority", b"a.test:443")]


@pytest.mark.parametrize(
    "head",
    [
        HEAD % (b"GET / HTTP/1.1", b""),
        HEAD % (b"POST /a%20b?c=d|e HTTP/1.1", b"Content-Length: 12\r\nX: \t a b \xc3\xa9\t\r\n"),
        HEAD % (b"POST http://a.test:80/x HTTP/1.1", b"transfer-encoding: Chunked\r\n"),
        b"CONNECT a.test:443 HTTP/1.1\r\n\r\n",
        b"CONNECT [::1]:443 HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        HEAD % (b"OPTIONS * HTTP/1.1", b"Connection: keep-alive, TE\r\n"),
    ],
)
def test_request_heads_that_pass(head: bytes) -> None:
    assert _core.http1_request_flaw(head) is None


@pytest.mark.parametrize("name", ["status", "reason", "chunked", "gzip", "no reason", "no content"])
def test_response_heads_that_pass(name: str) -> None:
    heads = {
        "status": b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "reason": b"HTTP/1.0 404 Not \xe9 Found\r\n\r\n",
        "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "gzip": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "no reason": b"HTTP/1.1 200\r\n\r\n",
        "no content": b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
    }
    assert _core.http1_response_flaw(heads[name]) is None


@pytest.mark.parametrize(
    ("head", "flaw"),
    [
        (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "a field line is folded"),
        (b"HTTP/1.1 200 OK\nX: a\r\n\r\n", "a line ends without a carriage return"),
        (b"HTTP/1.1 200 O\rK\r\n\r\n", "the reason holds the byte 0x0d"),
        (b"HTTP/1.1 20 OK\r\n\r\n", "the status is not three digits"),
        (b"HTTP/2.0 200 OK\r\n\r\n", "the version is neither HTTP/1.1 nor HTTP/1.0"),
        (b"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n", "a field value holds the byte 0x00"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "there are several `content-length` fields",
        ),
        (
            b"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n",
            "a response without a body has a `transfer-encoding`",
        ),
    ],
)
def test_response_heads_that_do_not_pass(head: bytes, flaw: str) -> None:
    assert _core.http1_response_flaw(head) == flaw


def test_fields_of_http2_that_pass() -> None:
    assert _core.http2_request_flaw([*H2, (b"te", b"trailers"), (b"cookie", b"a"), (b"cookie", b"b")]) is None
    assert _core.http2_request_flaw([*H2[:3], (b"host", b"a.test")]) is None
    assert _core.http2_response_flaw([(b":status", b"200"), (b"content-length", b"3")]) is None
    assert _core.trailers_flaw([(b"grpc-status", b"0")], http2=True) is None


@pytest.mark.parametrize(
    ("fields", "flaw"),
    [
        ([], "a pseudo-header field is missing"),
        ([(b":status", b"200"), (b":status", b"200")], "a pseudo-header field comes twice"),
        ([(b"x", b"y"), (b":status", b"200")], "a pseudo-header field comes after a regular one"),
        ([(b":status", b"101")], "HTTP/2 knows no status 101"),
        ([(b":status", b"200"), (b"connection", b"close")], "HTTP/2 knows no connection-specific fields"),
    ],
)
def test_responses_of_http2_that_do_not_pass(fields: payloads.Fields, flaw: str) -> None:
    assert _core.http2_response_flaw(fields) == flaw


def test_trailers_say_nothing_of_framing() -> None:
    for name in (b"content-length", b"transfer-encoding", b"host"):
        value = b"chunked" if name.startswith(b"t") else b"1"
        flaw = _core.trailers_flaw([(name, value)], http2=False)
        assert flaw == "a trailer field is about the message's framing or routing"


def test_whatever_h2_refuses_is_refused() -> None:
    """Its checks are switched off in favour of ours, which must cover them."""
    import h2.exceptions
    import h2.utilities

    flags = h2.utilities.HeaderValidationFlags(
        is_client=False, is_trailer=False, is_response_header=False, is_push_promise=False
    )
    refused = 0
    for payload in payloads.h2():
        try:
            list(h2.utilities.validate_headers(payload.fields, flags))
        except h2.exceptions.ProtocolError:
            refused += 1
            assert _core.http2_request_flaw(payload.fields) is not None, payload.name
    assert refused > 20


@pytest.mark.parametrize("cut", [1, 3, 7, 1000])
def test_requests_are_counted_at_any_cuts(cut: int) -> None:
    post = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\nX: y\r\n\r\n"
    sized = b"POST / HTTP/1.1\r\ncontent-length: 14\r\n\r\nGET / HTTP/1.1"
    data = post + sized + b"GET / HTTP/1.1\nhost: a\n\nGET / HTTP/1.1\r\n\r\n"
    counter = _core.RequestCounter(http2=False)
    assert sum(counter.feed(data[at : at + cut]) for at in range(0, len(data), cut)) == 4


def test_streams_of_http2_are_counted_once_each() -> None:
    from tests.attacks import raw_h2

    data = raw_h2.request(H2, b"body", [(b"x", b"y")]) + raw_h2.head_frame(3, H2, end=True)
    counter = _core.RequestCounter(http2=True)
    assert sum(counter.feed(data[at : at + 1]) for at in range(len(data))) == 2
    stopped = _core.RequestCounter(http2=False)
    stopped.stop()
    assert stopped.feed(b"GET / HTTP/1.1\r\n\r\n") == 0
