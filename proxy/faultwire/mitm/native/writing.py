"""Messages as they are written: the bytes of mitmproxy's HTTP/1 layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mitmproxy import http
from mitmproxy.net.http import http1

from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    Message = http.Request | http.Response


def ends_connection(request: http.Request, response: http.Response) -> bool:
    """Must the connection end behind these two (RFC 9112 §9.3)? mitmproxy's own answer, which takes several
    times as long to give, is asked for only where a head says more than a length."""
    if convert.value_of(response.headers, b"content-length") is None and _ends_by_closing(request, response):
        return True
    return _closes(request) or _closes(response)


def _closes(message: Message) -> bool:
    if convert.value_of(message.headers, b"connection") is None:
        return message.data.http_version != b"HTTP/1.1"
    return bool(http1.connection_close(message.http_version, message.headers))


def _ends_by_closing(request: http.Request, response: http.Response) -> bool:
    """Does only the end of the connection show where this response ends?"""
    try:
        return http1.expected_http_body_size(request, response) == -1
    except ValueError:
        return False


def _as_read(message: Message) -> bytes | None:
    """A head whose fields nobody has changed, as mitmproxy's own functions write it in twice the time; None
    where that is theirs to do."""
    headers = message.headers
    if type(headers) is not convert.ReadFields or headers.text is None:
        return None
    data: Any = message.data
    if isinstance(message, http.Response):
        start = b"%s %d %s\r\n" % (data.http_version, data.status_code, data.reason)
    elif data.authority or data.method == b"CONNECT":
        return None
    else:
        start = b"%s %s %s\r\n" % (data.method, data.path, data.http_version)
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.text])
    return start + lines.encode("latin-1") + b"\r\n"


class MessageWriter:
    """Writes one message after the other to one side."""

    def __init__(self) -> None:
        self.trailers: http.Headers | None = None
        self._chunked = False

    def head(self, message: Message) -> bytes:
        """A head; how what follows is framed is said in it."""
        coding = convert.value_of(message.headers, b"transfer-encoding") or ""
        self._chunked = "chunked" in coding.lower()
        if isinstance(message, http.Response):
            return _as_read(message) or bytes(http1.assemble_response_head(message))
        return _as_read(message) or bytes(http1.assemble_request_head(message))

    def data(self, pieces: Sequence[bytes]) -> bytes:
        """Parts of the body, each in a chunk of its own."""
        if self._chunked:
            return b"".join([b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end(self) -> bytes:
        """The end of the body, with its trailers."""
        trailers, self.trailers = self.trailers, None
        if not self._chunked:
            return b""
        return b"0\r\n%s\r\n" % (bytes(trailers) if trailers is not None else b"")
