"""`mitm.messages.convert`, fields that the core has read: for mitmproxy they are mitmproxy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mitmproxy import http

from faultwire.events import Request
from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Headers

TEXT = (("Host", "a.example"), ("X-Odd", "\xe9"), ("x-odd", "two"), ("Content-Length", "2"))
BYTES = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in TEXT)


def test_they_read_as_those_of_mitmproxy() -> None:
    read, theirs = convert.ReadFields(TEXT), http.Headers(BYTES)
    assert read.fields == theirs.fields
    assert bytes(read) == bytes(theirs)
    assert read.get_all("x-odd") == theirs.get_all("x-odd")
    assert convert.headers_of(read) == convert.headers_of(theirs)
    for name in (b"host", b"x-odd", b"content-length", b"none"):
        assert convert.value_of(read, name) == convert.value_of(theirs, name)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.pop("host"),
        lambda fields: fields.__setitem__("host", "b.example"),
        lambda fields: fields.__delitem__("x-odd"),
        lambda fields: fields.add("more", "1"),
        lambda fields: fields.insert(0, "first", "1"),
        lambda fields: fields.clear(),
    ],
)
def test_a_change_is_seen_by_every_reader(change: Callable[[http.Headers], object]) -> None:
    read, theirs = convert.ReadFields(TEXT), http.Headers(BYTES)
    assert convert.value_of(read, b"host") == "a.example"
    change(read)
    change(theirs)
    assert read.fields == theirs.fields
    assert convert.headers_of(read) == convert.headers_of(theirs) != TEXT
    for name in (b"host", b"x-odd", b"more", b"first"):
        assert convert.value_of(read, name) == convert.value_of(theirs, name)


def as_bytes(text: Headers) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode(), value.encode()) for name, value in text)


def asked(fields: http.Headers) -> http.Request:
    return http.Request("h", 443, b"POST", b"https", b"", b"/", b"HTTP/1.1", fields, None, None, 0.0, None)


def test_a_request_that_nobody_changed_keeps_its_fields_and_a_changed_one_does_not() -> None:
    read = convert.ReadFields(TEXT)
    request = asked(read)
    convert.apply_request(request, Request("POST", "https", "h", 443, "/", convert.headers_of(read), b"{}"))
    assert request.headers is read, "the body has the length that the head says"
    convert.apply_request(request, Request("POST", "https", "h", 443, "/", convert.headers_of(read), b"{} "))
    assert request.headers["content-length"] == "3"
    other = (*TEXT, ("more", "1"))
    convert.apply_request(request, Request("POST", "https", "h", 443, "/", other, None))
    assert convert.headers_of(request.headers) == other


@pytest.mark.parametrize(
    "more",
    [
        (),
        (("Proxy-Authorization", "Basic x"),),
        (("proxy-connection", "keep-alive"), ("PROXY-AUTHORIZATION", "y")),
        (("upgrade", "h2c"), ("connection", "Upgrade"), ("proxy-connection", "x")),
    ],
)
def test_what_is_between_client_and_proxy_is_dropped_as_from_mitmproxys(more: Headers) -> None:
    found = []
    for fields in (convert.ReadFields(TEXT + more), http.Headers(BYTES + as_bytes(more))):
        request = asked(fields)
        convert.without_proxy_headers(request)
        found.append(request.headers.fields)
    assert found[0] == found[1] == BYTES
