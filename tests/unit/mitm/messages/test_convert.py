"""Messages on their way between mitmproxy's shape and ours."""

from __future__ import annotations

import base64

import pytest
from mitmproxy import http

from faultwire.events import Request, Response, header
from faultwire.mitm.messages import convert


def message(**headers: str) -> http.Request:
    made = http.Request.make("POST", "https://api.test:8443/v1?q=1", b"body", {})
    for name, value in headers.items():
        made.headers[name.replace("_", "-")] = value
    return made


def test_a_request_keeps_its_headers_byte_for_byte() -> None:
    made = message()
    made.headers = http.Headers([(b"X-A", b"\xff\x80"), (b"x-a", b"again"), (b"Cookie", b"c=1")])
    request = convert.request_of(made)
    assert (request.method, request.url) == ("POST", "https://api.test:8443/v1?q=1")
    assert convert.fields_of(request.headers).fields == made.headers.fields


def test_applying_a_request_leaves_its_target_alone() -> None:
    made = message()
    wanted = Request(
        "PUT", "http", "elsewhere", 1, "/new", (("content-length", "99"), ("x", "y")), b"longer body"
    )
    convert.apply_request(made, wanted)
    assert (made.method, made.path, made.raw_content) == ("PUT", "/new", b"longer body")
    assert (made.host, made.port, made.scheme) == ("api.test", 8443, "https")
    assert made.headers["content-length"] == "11"


def test_our_answers_have_their_true_length() -> None:
    answer = Response(503, "", (("content-length", "1"), ("transfer-encoding", "chunked")), b"{}")
    made = convert.message_of(answer, "HTTP/1.1")
    assert (made.status_code, made.raw_content, made.http_version) == (503, b"{}", "HTTP/1.1")
    assert made.headers.get_all("content-length") == ["2"]
    assert "transfer-encoding" not in made.headers


@pytest.mark.parametrize(
    ("version", "framing"), [("HTTP/1.1", "chunked"), ("HTTP/1.0", None), ("HTTP/2.0", None)]
)
def test_a_body_of_unknown_length_is_framed_as_the_client_knows_it(version: str, framing: str | None) -> None:
    made = http.Response.make(200, b"", {"content-length": "5"})
    made.http_version = "HTTP/1.0"
    convert.apply_response(made, convert.open_ended(convert.response_of(made), version))
    assert "content-length" not in made.headers
    assert made.headers.get("transfer-encoding") == framing
    assert (made.headers.get("connection") == "close") == (version == "HTTP/1.0")
    assert (made.http_version == "HTTP/1.1") == (framing is not None), "HTTP/1.0 knows no chunks"


def test_a_body_of_known_length() -> None:
    sized = convert.sized(Response(200, "", (("transfer-encoding", "chunked"),)), 7)
    assert header(sized.headers, "content-length") == "7"
    assert header(sized.headers, "transfer-encoding") is None


def test_what_is_between_client_and_proxy_goes_no_further() -> None:
    made = message(
        proxy_authorization="Basic x", proxy_connection="keep-alive", upgrade="h2c", http2_settings="AAM"
    )
    made.headers["connection"] = "keep-alive, Upgrade, HTTP2-Settings"
    convert.without_proxy_headers(made)
    assert made.headers["connection"] == "keep-alive"
    for name in ("proxy-authorization", "proxy-connection", "upgrade", "http2-settings"):
        assert name not in made.headers


def test_other_upgrades_stay() -> None:
    made = message(upgrade="websocket", connection="Upgrade")
    convert.without_proxy_headers(made)
    assert made.headers["upgrade"] == "websocket"
    assert made.headers["connection"] == "Upgrade"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Basic " + base64.b64encode(b"user:pass:word").decode(), ("user", "pass:word")),
        ("basic " + base64.b64encode(b"user").decode(), ("user", "")),
        ("Basic not-base64!", None),
        ("Basic " + base64.b64encode(b"\xff:x").decode(), None),
        ("Bearer abc", None),
        ("", None),
    ],
)
def test_the_proxy_user(value: str, found: tuple[str, str] | None) -> None:
    headers = http.Headers([(b"proxy-authorization", value.encode())]) if value else http.Headers()
    assert convert.proxy_user(headers) == found


@pytest.mark.parametrize(
    ("version", "length", "h2", "name", "value"),
    [
        ("HTTP/2.0", 5, False, "content-length", "5"),
        ("HTTP/2.0", None, False, "transfer-encoding", "chunked"),
        ("HTTP/2.0", None, True, "transfer-encoding", None),
        ("HTTP/2.0", 0, False, "content-length", None),
        ("HTTP/1.1", None, False, "transfer-encoding", None),
    ],
)
def test_requests_from_http2_are_framed_for_http1(
    version: str, length: int | None, h2: bool, name: str, value: str | None
) -> None:
    made = http.Request.make("POST", "https://x.test/", b"", {})
    made.headers.clear()
    made.http_version = version
    convert.frame(made, length, h2_upstream=h2)
    assert made.headers.get(name) == value


def test_a_value_is_found_by_its_name_in_any_case() -> None:
    headers = http.Headers([(b"X-Other", b"1"), (b"Upgrade", b"caf\xe9"), (b"upgrade", b"2")])
    assert convert.value_of(headers, b"upgrade") == "café"
    assert convert.value_of(headers, b"expect") is None
