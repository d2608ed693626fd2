"""Heads as the core read them, made mitmproxy's: faultwire.mitm.native.reading."""

from __future__ import annotations

import pytest
from mitmproxy import http

from faultwire.mitm.native.reading import (
    MALFORMED,
    NO_HOST,
    place_by_itself,
    read_request,
    read_response,
    read_target,
)


def test_what_the_core_has_read_has_all_members_of_mitmproxys() -> None:
    theirs: tuple[http.Message, ...] = (http.Request.make("GET", "http://a/"), http.Response.make())
    ours = (read_request("GET", "/", "HTTP/1.1", ()), read_response(200, "HTTP/1.1", "OK", ()))
    for read, made in zip(ours, theirs, strict=True):
        assert vars(read.data).keys() == vars(made.data).keys()


def placed(target: str, *fields: tuple[str, str]) -> tuple[str, str, int, str, str]:
    written = f"GET {target} HTTP/1.1\r\n\r\n".encode()
    request = read_target("GET", target, "HTTP/1.1", fields, written)
    place_by_itself(request)
    return request.scheme, request.host, request.port, request.path, request.authority


@pytest.mark.parametrize(
    ("target", "host", "place"),
    [
        ("http://a.example:81/x?y", "other", ("http", "a.example", 81, "/x?y", "")),
        ("/x?y", "a.example", ("http", "a.example", 80, "/x?y", "")),
        ("/x", "a.example:8443", ("http", "a.example", 8443, "/x", "")),
        ("/x", "[::1]:8443", ("http", "::1", 8443, "/x", "")),
    ],
)
def test_where_a_request_to_the_proxy_goes_is_in_its_target_or_its_host(
    target: str, host: str, place: tuple[str, str, int, str, str]
) -> None:
    assert placed(target, ("Host", host)) == place


@pytest.mark.parametrize("fields", [(), (("host", ""),), (("host", "a b"),), (("host", "a:x"),)])
def test_one_that_says_it_nowhere_is_refused_as_by_mitmproxy(fields: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(ValueError, match=NO_HOST):
        placed("/x", *fields)


@pytest.mark.parametrize(
    ("target", "why"), [("ftp://b/", "cannot be read"), ("ftp://b:21/", "another scheme")]
)
def test_a_target_that_is_no_url_of_http_is_refused(target: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"{MALFORMED}its target.*{why}"):
        placed(target)
