"""Between mitmproxy's messages and ours: headers are Latin-1 text here and bytes there."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mitmproxy import http

from faultwire.events import Request, Response, header, with_header

if TYPE_CHECKING:
    from faultwire.events import Headers


_FOR_PROXIES = frozenset(("proxy-authorization", "proxy-connection"))


class ReadFields(http.Headers):
    """mitmproxy's header fields, for a head that the core has validated. `text` are the fields as the core
    gave them, None once anybody has changed them."""

    def __init__(self, text: Headers) -> None:
        # Not mitmproxy's own: it looks at each field, and sets what is made here when it is wanted.
        self.text: Headers | None = text
        self._bytes: tuple[tuple[bytes, bytes], ...] | None = None
        self._values: dict[str, str] | None = None

    @property
    def fields(self) -> Any:
        """The fields as bytes, which is how mitmproxy sees them."""
        found = self._bytes
        if found is None:
            text = self.text or ()
            found = self._bytes = tuple(
                [(name.encode("latin-1"), value.encode("latin-1")) for name, value in text]
            )
        return found

    @fields.setter
    def fields(self, fields: Any) -> None:
        self._bytes, self.text, self._values = fields, None, None

    def first(self, name: str) -> str | None:
        """The first value of a field, its name in lower case; only while `text` is there."""
        values = self._values
        if values is None:
            values = self._values = {}
            for key, value in self.text or ():
                values.setdefault(key.lower(), value)
        return values.get(name)


def value_of(headers: http.Headers, name: bytes) -> str | None:
    """The first value of a field, its name in lower case; mitmproxy's own look-up takes far longer."""
    if type(headers) is ReadFields and headers.text is not None:
        return headers.first(name.decode())
    size = len(name)
    for key, value in headers.fields:
        if len(key) == size and key.lower() == name:
            return value.decode("latin-1")
    return None


def headers_of(headers: http.Headers) -> Headers:
    """Header fields as text, in order."""
    if type(headers) is ReadFields and headers.text is not None:
        return headers.text
    return tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.fields])


def fields_of(headers: Headers) -> http.Headers:
    """The way back."""
    return http.Headers([(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers])


def request_of(request: http.Request) -> Request:
    """A request's head."""
    return Request(
        method=request.method,
        scheme=request.scheme,
        host=request.host,
        port=request.port,
        path=request.path,
        headers=headers_of(request.headers),
    )


def response_of(response: http.Response) -> Response:
    """A response's head."""
    return Response(response.status_code, response.reason, headers_of(response.headers))


def apply_request(request: http.Request, wanted: Request) -> None:
    """Make an outgoing request say what `wanted` says; where it goes to is not its matter."""
    request.method = wanted.method
    request.path = wanted.path
    headers = wanted.headers
    if wanted.body is not None:
        request.data.content = wanted.body
        if header(headers, "content-length") not in (None, length := str(len(wanted.body))):
            headers = with_header(headers, "content-length", length)
    if headers is not headers_of(request.headers):
        request.headers = fields_of(headers)


def apply_response(response: http.Response, wanted: Response) -> None:
    """Make a response's head say what `wanted` says; chunks need HTTP/1.1."""
    response.status_code = wanted.status
    response.reason = wanted.reason
    response.headers = fields_of(wanted.headers)
    if response.http_version == "HTTP/1.0" and header(wanted.headers, "transfer-encoding") is not None:
        response.http_version = "HTTP/1.1"


def message_of(response: Response, http_version: str) -> http.Response:
    """A response of ours as a whole message, with the length that it has."""
    body = response.body or b""
    headers = with_header(response.headers, "transfer-encoding", None)
    if response.status not in (204, 304):
        headers = with_header(headers, "content-length", str(len(body)))
    message = http.Response.make(response.status, body, fields_of(headers))
    message.http_version = http_version
    message.reason = response.reason or message.reason
    return message


def open_ended(wanted: Response, client_version: str) -> Response:
    """A head for a body whose length is not known: framed by chunks, so that its end shows, or by the
    end of the connection where the client knows no chunks."""
    headers = with_header(wanted.headers, "content-length", None)
    if client_version == "HTTP/1.0":
        headers = with_header(headers, "transfer-encoding", None)
        headers = with_header(headers, "connection", "close")
    elif client_version == "HTTP/1.1":
        headers = with_header(headers, "transfer-encoding", "chunked")
    return replace(wanted, headers=headers)


def sized(response: Response, length: int) -> Response:
    """A head whose body is known to have `length` bytes."""
    headers = with_header(response.headers, "transfer-encoding", None)
    return replace(response, headers=with_header(headers, "content-length", str(length)))


def frame(request: http.Request, length: int | None, *, h2_upstream: bool) -> None:
    """Give a request that came by HTTP/2 without a length the framing that HTTP/1 needs; `length` is
    that of its body, None where it is not known yet."""
    if not request.is_http2 or h2_upstream or "content-length" in request.headers:
        return
    if length is None:
        request.headers["transfer-encoding"] = "chunked"
    elif length:
        request.headers["content-length"] = str(length)


def without_proxy_headers(request: http.Request) -> None:
    """Drop what is between the client and us: the proxy user, and an upgrade to h2c that would take
    the rest of the connection out of our sight."""
    headers = request.headers
    if type(headers) is ReadFields and headers.text is not None and headers.first("upgrade") is None:
        kept_text = tuple([field for field in headers.text if field[0].lower() not in _FOR_PROXIES])
        if len(kept_text) < len(headers.text):
            request.headers = ReadFields(kept_text)
        return
    for field in (b"proxy-authorization", b"proxy-connection"):
        if value_of(headers, field) is not None:
            del headers[field.decode()]
    if (value_of(headers, b"upgrade") or "").strip().lower() == "h2c":
        kept = [
            token
            for token in (part.strip() for part in headers.get("connection", "").split(","))
            if token and token.lower() not in ("upgrade", "http2-settings")
        ]
        for name in ("upgrade", "http2-settings", "connection"):
            headers.pop(name, None)
        if kept:
            headers["connection"] = ", ".join(kept)


def proxy_user(headers: http.Headers) -> tuple[str, str] | None:
    """User and password of a Basic `proxy-authorization`, if there is one that can be read."""
    scheme, _, value = (value_of(headers, b"proxy-authorization") or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = b64decode(value.strip(), validate=True).decode().partition(":")
    except (Base64Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else (user, "")
