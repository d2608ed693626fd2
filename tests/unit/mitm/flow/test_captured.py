"""By its first bytes a connection is TLS, HTTP, or not for us."""

from __future__ import annotations

import pytest
from mitmproxy.test import tflow, tutils

from faultwire.mitm.flow import captured


@pytest.mark.parametrize(
    ("data", "spoken"),
    [
        (b"\x16\x03\x01", "tls"),
        (b"GET / HTTP/1.1\r\n", "http"),
        (b"POST http://a/ HTTP/1.1\r\n", "http"),
        (b"OPTIONS * HTTP/1.1\r\n", "http"),
        (b"VERSION-CONTROL /x HTTP/1.1\r\n", "http"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http"),
        (b"G", None),
        (b"GET ", None),
        (b"SSH-2.0-OpenSSH_9.2 Debian\r\n", "other"),
        (b"EHLO a.example\r\n", "other"),
        (b"PING\r\n", "other"),
        (b"*1\r\n$4\r\nPING\r\n", "other"),
        (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", "other"),
        (b" GET / HTTP/1.1", "other"),
        (b"A" * 40, "other"),
    ],
)
def test_what_is_spoken(data: bytes, spoken: str | None) -> None:
    assert captured.speech(data) == spoken


def test_pieces_of_a_request_are_not_judged_too_early() -> None:
    whole = b"GET /v1/models HTTP/1.1\r\n"
    assert {captured.speech(whole[:size]) for size in range(1, len(whole) + 1)} == {None, "http"}


@pytest.mark.parametrize(
    ("host", "header", "named"),
    [
        ("203.0.113.9", b"api.example", "api.example"),
        ("203.0.113.9", b"API.example:8080", "api.example"),
        ("2001:db8::1", b"api.example", "api.example"),
        ("203.0.113.9", b"203.0.113.9", "203.0.113.9"),
        ("203.0.113.9", b"[2001:db8::1]", "203.0.113.9"),
        ("203.0.113.9", b"[2001:db8::1]:80", "203.0.113.9"),
        ("203.0.113.9", b"", "203.0.113.9"),
        ("known.example", b"other.example", "known.example"),
    ],
)
def test_a_request_to_an_address_is_for_the_host_that_it_names(host: str, header: bytes, named: str) -> None:
    flow = tflow.tflow(req=tutils.treq(host=host, headers=((b"host", header),)))
    captured.name_host(flow)
    assert flow.request.host == named
    assert flow.request.headers["host"] == header.decode()
