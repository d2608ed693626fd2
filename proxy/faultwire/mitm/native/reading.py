"""Heads as the core read them, made mitmproxy's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy import http
from mitmproxy.net.http import http1, url

from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    from faultwire.events import Headers

MALFORMED = "the request head is malformed: "
NO_HOST = "HTTP request has no host header, destination unknown."
"""What mitmproxy says of it."""


def read_target(method: str, target: str, version: str, fields: Headers, written: bytes) -> http.Request:
    """A request, whatever the form of its target. Raises ValueError with what it is refused for."""
    if target.startswith("/") or target == "*":
        return read_request(method, target, version, fields)
    try:
        request = http1.read_request_head([written.partition(b"\r\n")[0]])
    except ValueError:
        raise ValueError(f"{MALFORMED}its target cannot be read") from None
    request.headers = convert.ReadFields(fields)
    if request.scheme not in ("http", "https"):
        raise ValueError(f"{MALFORMED}its target has another scheme than `http` and `https`")
    return request


def place_by_itself(request: http.Request) -> None:
    """Where a request to the proxy itself goes is said in its target, or in its `host` (base-URL mode).
    Raises ValueError where neither says it."""
    data = request.data
    data.authority = b""
    if data.host:
        return
    try:
        host, port = url.parse_authority(request.host_header or "", check=True)
    except ValueError:
        raise ValueError(NO_HOST) from None
    data.host, data.port, data.scheme = host, port or 80, b"http"


def read_request(method: str, target: str, version: str, fields: Headers) -> http.Request:
    """A request as the core read it; where it goes to is set by whoever knows."""
    request = http.Request.__new__(http.Request)
    # The core has validated every member; mitmproxy's constructor checks their types once more, which takes
    # longer than all that is done here.
    data = request.data = http.RequestData.__new__(http.RequestData)
    data.host, data.port, data.scheme, data.authority = "", 0, b"", b""
    data.method, data.path = method.encode(), target.encode("latin-1")
    data.http_version, data.headers = version.encode(), convert.ReadFields(fields)
    data.content = data.trailers = data.timestamp_end = None
    data.timestamp_start = 0.0
    return request


def read_response(status: int, version: str, reason: str, fields: Headers) -> http.Response:
    """The same for a response. Blanks in front of a reason are no part of it to mitmproxy."""
    response = http.Response.__new__(http.Response)
    data = response.data = http.ResponseData.__new__(http.ResponseData)
    data.http_version, data.headers = version.encode(), convert.ReadFields(fields)
    data.status_code, data.reason = status, reason.lstrip(" \t").encode("latin-1")
    data.content = data.trailers = data.timestamp_end = None
    data.timestamp_start = 0.0
    return response
