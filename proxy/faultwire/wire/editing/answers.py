"""Reason phrases, ids and headers that fabricated answers share."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.events import Response, with_header

if TYPE_CHECKING:
    from faultwire.events import Headers

_MORE_REASONS = {
    520: "Web Server Returned an Unknown Error",
    521: "Web Server Is Down",
    522: "Connection Timed Out",
    523: "Origin Is Unreachable",
    524: "A Timeout Occurred",
    529: "Overloaded",
}
"""What Cloudflare (520-524) and Anthropic (529) add to the registered codes."""


def reason(status: int) -> str:
    """The reason phrase of a status code, empty where it has none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return _MORE_REASONS.get(status, "")


def made_id(prefix: str, *parts: object, length: int = 24) -> str:
    """An id that looks like a provider's: the same for the same parts."""
    text = "\x00".join(str(part) for part in parts)
    return prefix + _core.sha256_hex(text.encode(errors="surrogatepass"))[:length]


def answer(status: int, body: bytes, content_type: str, *headers: tuple[str, str]) -> Response:
    """A whole answer with its length."""
    fixed = (("content-type", content_type), ("content-length", str(len(body))))
    return Response(status, reason(status), (*fixed, *headers), body)


def with_headers(response: Response, headers: Headers) -> Response:
    """The response with fields added behind its own."""
    return replace(response, headers=(*response.headers, *headers))


def with_body(response: Response, body: bytes, fields: dict[str, str]) -> Response:
    """The response with another body, its length, and these fields set."""
    headers = with_header(response.headers, "content-length", str(len(body)))
    for name, value in fields.items():
        headers = with_header(headers, name, value)
    return replace(response, body=body, headers=headers)


def edge_page(status: int, message: str | None) -> Response:
    """What a load balancer in front of a provider says: HTML, and no request id."""
    title = f"{status} {reason(status)}".strip()
    paragraph = f"<p>{escape(message)}</p>\r\n" if message else ""
    page = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
        f"{paragraph}<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n"
    )
    return answer(status, page.encode(errors="replace"), "text/html; charset=UTF-8", ("server", "cloudflare"))


def whole_seconds(seconds: float) -> str:
    """Seconds for `retry-after`, rounded up as RFC 9110 §10.2.3 wants them."""
    return str(max(0, math.ceil(seconds)))
