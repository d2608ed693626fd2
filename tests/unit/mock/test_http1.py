from __future__ import annotations

import pytest

from faultwire.events import Request
from faultwire.mock import http1
from faultwire.mock._api import Answer

POST = b"POST /v1/x?a=1 HTTP/1.1\r\nHost: api.openai.com:8080\r\nContent-Length: 4\r\n\r\nbody"
CHUNKED = (
    b"POST /c HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"
)


def parsed(*pieces: bytes) -> list[Request]:
    requests, found = http1.Requests(), []
    for piece in pieces:
        requests.feed(piece)
        while (request := requests.next()) is not None:
            found.append(request)
    return found


def test_a_request() -> None:
    (found,) = parsed(POST)
    assert (found.method, found.host, found.path, found.body) == (
        "POST",
        "api.openai.com",
        "/v1/x?a=1",
        b"body",
    )
    assert found.headers[0] == ("Host", "api.openai.com:8080")


def test_chunked_bodies() -> None:
    (found,) = parsed(CHUNKED)
    assert (found.body, found.host) == (b"abc0123456789", "::1")


def test_any_split_gives_the_same_requests() -> None:
    stream = POST + CHUNKED + b"\r\nGET http://h.example/p?q HTTP/1.0\r\n\r\n"
    whole = parsed(stream)
    assert [request.path for request in whole] == ["/v1/x?a=1", "/c", "/p?q"]
    for at in range(len(stream)):
        assert parsed(stream[:at], stream[at:]) == whole
    assert parsed(*(stream[i : i + 1] for i in range(len(stream)))) == whole
    assert [http1.closes(request) for request in whole] == [False, False, True]


def test_a_client_that_waits_for_100_gets_one() -> None:
    requests = http1.Requests()
    requests.feed(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
    assert requests.next() is None
    assert requests.wants_continue
    requests.feed(b"ok")
    assert requests.next() is not None
    assert not requests.wants_continue


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n", 413),
        (b"GET http://[x HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),  # RFC 9112 §3.2: 1.1 wants a host
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"x" * 70_000, 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\na: " + b"x" * 70_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request_is_refused(head: bytes, status: int) -> None:
    with pytest.raises(http1.BadRequest) as caught:
        parsed(head)
    assert caught.value.status == status


def test_a_chunked_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "MAX_BODY", 100)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    (found,) = parsed(head + b"64\r\n" + b"x" * 100 + b"\r\n0\r\n\r\n")
    assert found.body == b"x" * 100
    for body in (b"fffffffff\r\n" + b"x" * 101, b"60\r\n" + b"x" * 96 + b"\r\n5\r\nxxxxx"):
        with pytest.raises(http1.BadRequest) as caught:
            parsed(head + body)
        assert caught.value.status == 413


def test_what_was_found_is_not_shown() -> None:
    with pytest.raises(http1.BadRequest) as caught:
        parsed(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer sk-secret\r\n\r\n")
    assert "secret" not in str(caught.value)


def test_bytes_after_an_upgrade_are_kept() -> None:
    requests = http1.Requests()
    requests.feed(
        b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x80rest"
    )
    assert requests.next() is not None
    requests.feed(b" more")
    assert (requests.rest(), requests.rest()) == (b"\x81\x80rest more", b"")


def test_answers() -> None:
    answer = Answer(529, (("x-a", "1"),), b"hi")
    assert http1.whole(answer) == b"HTTP/1.1 529 Overloaded\r\nx-a: 1\r\ncontent-length: 2\r\n\r\nhi"
    assert b"connection: close\r\n" in http1.whole(answer, close=True)
    assert http1.opening(answer).endswith(b"transfer-encoding: chunked\r\n\r\n")
    assert http1.chunk(b"x" * 16) == b"10\r\n" + b"x" * 16 + b"\r\n"
    assert http1.chunk(b"") == b"0\r\n\r\n"
