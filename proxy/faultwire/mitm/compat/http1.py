"""Mends of mitmproxy's HTTP/1 side that a proxy in front of real programs needs.

- A request that cannot be read is answered as all refusals are, in JSON; mitmproxy writes HTML.
- A head of more than `HEAD_LIMIT` bytes is refused; mitmproxy keeps any amount.
- `103 Early Hints` and its like are dropped; mitmproxy takes them for the final response, and the
  client then waits for ever.
- Trailers after a chunked body pass (`compat.trailers`); mitmproxy raises, and the client's body stays
  cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestEndOfMessage,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from faultwire.mitm.compat.codes import BAD_GATEWAY
from faultwire.mitm.compat.trailers import BodyReader, closing
from faultwire.mitm.messages import convert, error_responses

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mitmproxy import http
    from mitmproxy.proxy.layers.http._base import HttpEvent

HEAD_LIMIT = 64 * 1024


class ResponsePieces(ResponseData):
    """Pieces of a body that leave together, each in a chunk of its own; none is empty."""

    def __init__(self, stream_id: int, pieces: list[bytes]) -> None:
        super().__init__(stream_id, b"".join(pieces))
        self.pieces = pieces


class Outgoing(Protocol):
    """Changes what one client is sent, behind the tape: links that must lead back to us."""

    def head(self, response: http.Response) -> bool:
        """Change a response's head in place; True where its body is wanted whole."""

    def body(self, response: http.Response, body: bytes) -> bytes:
        """What is sent in place of the body."""


class BoundedHttp1Server(BodyReader, _http1.Http1Server):
    """mitmproxy's side towards an HTTP/1 client, with a limit on the head."""

    on_refusal: Callable[[], None] | None = None
    """Told of every head that is refused here, so that nobody else hears of it."""
    outgoing: Callable[[], Outgoing | None] | None = None
    """Who changes the response to the request at hand, if anybody does."""
    _chunked = False
    _trailers: http.Headers | None = None
    _held: tuple[Outgoing, ResponseHeaders, bytearray] | None = None

    def send(self, event: HttpEvent) -> Any:
        """Write to the client; mitmproxy looks the framing up in the head for every chunk. Gives commands."""
        if not isinstance(event, ResponseData):
            changed = self.outgoing is not None or self._held is not None
            return self._send_changed(event) if changed else self._write(event)
        if self._held is not None:
            self._held[2].extend(event.data)
        elif data := event.data:  # an empty chunk would end the body
            if self._chunked:
                pieces = event.pieces if type(event) is ResponsePieces else (data,)
                data = b"".join([b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces])
            return (commands.SendData(self.conn, data),)
        return ()

    def _send_changed(self, event: HttpEvent) -> Generator[commands.Command, Any, None]:
        if isinstance(event, ResponseHeaders):
            changes = self.outgoing() if self.outgoing is not None else None
            if changes is not None:
                event = ResponseHeaders(event.stream_id, event.response.copy(), event.end_stream)
                if changes.head(event.response):
                    self._held = (changes, event, bytearray())
                    return
        elif self._held is not None:
            yield from self._let_go(whole=isinstance(event, ResponseEndOfMessage))
        yield from self._write(event)

    def _write(self, event: HttpEvent) -> Any:
        if isinstance(event, ResponseHeaders):
            framing = convert.value_of(event.response.headers, b"transfer-encoding") or ""
            self._chunked = "chunked" in framing.lower()
        elif isinstance(event, ResponseTrailers):
            self._trailers = event.trailers
            return ()
        elif isinstance(event, ResponseEndOfMessage) and self._trailers is not None:
            trailers, self._trailers = self._trailers, None
            return closing(super().send(event), trailers)
        return super().send(event)

    def _let_go(self, *, whole: bool) -> Generator[commands.Command, Any, None]:
        """Send what was held; a body that was cut off goes as it is."""
        assert self._held is not None
        (changes, head, data), self._held = self._held, None
        body = bytes(data)
        if whole:
            body = changes.body(head.response, body)
            head.response.headers.pop("transfer-encoding", None)
            head.response.headers["content-length"] = str(len(body))
        yield from self.send_held(head)
        yield from self.send(ResponseData(head.stream_id, body))

    def send_held(self, head: ResponseHeaders) -> Generator[commands.Command, Any, None]:
        """Send a head that has been changed already."""
        yield from super().send(head)
        self._chunked = "chunked" in head.response.headers.get("transfer-encoding", "").lower()

    def read_headers(self, event: events.ConnectionEvent) -> Generator[commands.Command, Any, None]:
        """Read a request head once it is whole."""
        yield from super().read_headers(event)
        too_large = self.state == self.read_headers and len(self.buf) > HEAD_LIMIT
        if too_large:
            message = "the request head is larger than 64 KiB"
            yield commands.SendData(self.conn, _refused(431, message, "faultwire_refused"))
            yield commands.CloseConnection(self.conn)
            self.state = self.done
        if self.on_refusal is not None and (too_large or (self.state == self.done and not self.request)):
            self.on_refusal()


class PatientHttp1Client(BodyReader, _http1.Http1Client):
    """mitmproxy's side towards an HTTP/1 server, with a limit on the head and without interim ones."""

    _trailers: http.Headers | None = None

    def send(self, event: HttpEvent) -> Any:
        """Write to the server; trailers go behind the last chunk."""
        if isinstance(event, RequestTrailers):
            self._trailers = event.trailers
            return ()
        if isinstance(event, RequestEndOfMessage) and self._trailers is not None:
            trailers, self._trailers = self._trailers, None
            return closing(super().send(event), trailers)
        return super().send(event)

    def read_headers(self, event: events.ConnectionEvent) -> Generator[commands.Command, Any, None]:
        """Read a response head once it is whole."""
        if isinstance(event, events.DataReceived) and self.request:
            while _interim(bytes(self.buf)):
                if not self.buf.maybe_extract_lines():
                    break
        yield from super().read_headers(event)
        if self.state == self.read_headers and len(self.buf) > HEAD_LIMIT and self.stream_id is not None:
            yield commands.CloseConnection(self.conn)
            yield from self._oversized(self.stream_id)
            self.state = self.done

    def _oversized(self, stream_id: int) -> Generator[commands.Command, Any, None]:
        message = "the response head is larger than 64 KiB"
        yield ReceiveHttp(ResponseProtocolError(stream_id, message, BAD_GATEWAY))


def _interim(data: bytes) -> bool:
    """Do these bytes begin with the head of a 1xx response other than 101?"""
    line = data[:12]
    return len(line) == 12 and line.startswith(b"HTTP/1.") and line[8:10] == b" 1" and line[9:12] != b"101"


def _refused(status: int, message: str, kind: str) -> bytes:
    """A whole refusal, as the others are (`faultwire.mitm.messages.error_responses`)."""
    answer = error_responses.Refusal(status, kind, message).response()
    head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    return f"HTTP/1.1 {status} {answer.reason}\r\n{head}\r\n".encode() + (answer.body or b"")


def _make_error_response(status_code: int, message: str = "") -> bytes:
    return _refused(status_code, message, "faultwire_malformed")


def install() -> None:
    """Install the fixes where mitmproxy looks these names up."""
    _http1.make_error_response = _make_error_response
    http_layer.Http1Client = PatientHttp1Client  # type: ignore[attr-defined]
