"""Mends of mitmproxy's HTTP/1 side that a proxy in front of real programs needs.

- A request that cannot be read is answered as all refusals are, in JSON; mitmproxy writes HTML.
- Every head is validated before anything is made of it (`compat.heads`).
- A head of more than `HEAD_LIMIT` bytes is refused; mitmproxy keeps any amount.
- `103 Early Hints` and its like are dropped; mitmproxy takes them for the final response, and the
  client then waits for ever.
- An empty piece of a request's body is no chunk; mitmproxy writes one, which ends the body.
- Trailers after a chunked body pass (`compat.trailers`); mitmproxy raises, and the client's body stays
  cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from faultwire._core import RequestCounter
from faultwire.mitm.compat import once_more
from faultwire.mitm.compat.codes import BAD_GATEWAY
from faultwire.mitm.compat.heads import HEAD_LIMIT, HeadBuffer, request_flaw, response_flaw
from faultwire.mitm.compat.trailers import BodyReader, closing
from faultwire.mitm.messages import convert, error_responses

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from mitmproxy import http
    from mitmproxy.connection import Connection
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.compat.outgoing import ChangedAnswers


PREFACE = b"PRI * HTTP/2.0\r\n"
"""How HTTP/2 begins without TLS, with prior knowledge (RFC 9113 §3.3, §3.4)."""
H2C = "HTTP/2 without TLS (h2c) is not served here; use HTTP/1.1, or HTTP/2 over TLS"


class ResponsePieces(ResponseData):
    """Pieces of a body that leave together, each in a chunk of its own; none is empty."""

    def __init__(self, stream_id: int, pieces: list[bytes]) -> None:
        super().__init__(stream_id, b"".join(pieces))
        self.pieces = pieces


@dataclass
class WholeRequest(HttpEvent):
    """A request that is all there, in its parts: head, data, trailers, end."""

    parts: list[HttpEvent]
    trailers: bool


class BoundedHttp1Server(BodyReader, _http1.Http1Server):
    """mitmproxy's side towards an HTTP/1 client, with a limit on the head."""

    buf: HeadBuffer
    on_refusal: Callable[..., None] | None = None
    """Told of every head that is refused here, so that nobody else hears of it."""
    changed: ChangedAnswers | None = None
    """What becomes of answers that somebody changes."""
    _chunked = False
    _trailers: http.Headers | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf = HeadBuffer()

    def send(self, event: HttpEvent) -> Any:
        """Write to the client; mitmproxy looks the framing up in the head for every chunk. Gives commands."""
        if self.changed is not None:
            return chain.from_iterable(map(self._write, self.changed.events(event)))
        return self._write(event)

    def _write(self, event: HttpEvent) -> Any:
        if isinstance(event, ResponseData):
            return self._write_data(event)
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

    def _write_data(self, event: ResponseData) -> Any:
        if not (data := event.data):  # an empty chunk would end the body
            return ()
        if self._chunked:
            pieces = event.pieces if type(event) is ResponsePieces else (data,)
            chunks: list[bytes] = []
            for piece in pieces:
                chunks.append(b"%x\r\n%s\r\n" % (len(piece), piece))
            data = b"".join(chunks)
        return (commands.SendData(self.conn, data),)

    def read_headers(self, event: events.ConnectionEvent) -> Generator[commands.Command, Any, None]:
        """Read a request head once it is whole, and has no flaw."""
        head = self.buf.head() if isinstance(event, events.DataReceived) else None
        flaw = request_flaw(head) if head is not None else None
        if head is not None and head.startswith(PREFACE):
            yield from self._refuse(505, H2C, "faultwire_refused", h2c=True)
        elif flaw is not None:
            yield from self._refuse(400, f"the request head is malformed: {flaw}", "faultwire_malformed")
        elif len(self.buf if head is None else head) > HEAD_LIMIT:
            yield from self._refuse(431, "the request head is larger than 64 KiB", "faultwire_refused")
        else:
            yield from super().read_headers(event)
            if self.state == self.done and not self.request:
                self._tell()

    def _tell(self, *, h2c: bool = False) -> None:
        """Tell of a refusal, which ends the connection, once: a head may be read within reading another."""
        on_refusal, self.on_refusal = self.on_refusal, None
        if on_refusal is not None:
            on_refusal(h2c=h2c)

    def _refuse(
        self, status: int, message: str, kind: str, *, h2c: bool = False
    ) -> Generator[commands.Command, Any, None]:
        yield commands.SendData(self.conn, refused(error_responses.Refusal(status, kind, message)))
        yield commands.CloseConnection(self.conn)
        self.state = self.done
        self._tell(h2c=h2c)


class Written:
    """Counts the requests in the bytes that are written to one server; whoever in the layers above has
    `requests_written` is told. It knows nothing of streams and flows, so that a request is counted all the
    same which no exchange stands for."""

    def __init__(self, context: Context, *, http2: bool) -> None:
        found: Any = (getattr(layer, "requests_written", None) for layer in reversed(context.layers))
        self._tell = next((tell for tell in found if tell is not None), None)
        self._counter = RequestCounter(http2=http2)

    def seen(self, todo: Any, connection: Connection, stream_id: int) -> Iterator[Any]:
        """The same commands; what they write to the connection is counted, for the stream that asks."""
        for command in todo:
            if type(command) is commands.SendData and command.connection is connection:
                begun = self._counter.feed(command.data)
                if begun and self._tell is not None:
                    self._tell(stream_id, begun)
            yield command

    def stop(self) -> None:
        """The connection speaks another protocol from here on."""
        self._counter.stop()


class PatientHttp1Client(BodyReader, _http1.Http1Client):
    """mitmproxy's side towards an HTTP/1 server, with a limit on the head and without interim ones."""

    buf: HeadBuffer
    _trailers: http.Headers | None = None
    _served = False
    """Has the connection carried a whole exchange?"""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf = HeadBuffer()
        self._written = Written(context, http2=False)

    def send(self, event: HttpEvent) -> Any:
        """Write to the server, and count the requests in what is written."""
        return self._written.seen(self._write(event), self.conn, event.stream_id)

    def mark_done(self, *, request: bool = False, response: bool = False) -> Any:
        """A connection on which a client of HTTP/2 was served serves again, as any other does; mitmproxy
        closes it, so that each request costs a handshake."""
        if self.request is not None and self.request.is_http2:
            self.request = self.request.copy()
            self.request.http_version = "HTTP/1.1"
        self._served = self._served or response
        return super().mark_done(request=request, response=response)

    def make_pipe(self) -> Any:
        """Another protocol than HTTP follows."""
        self._written.stop()
        return super().make_pipe()

    def _write(self, event: HttpEvent) -> Any:
        """Trailers go behind the last chunk. A DATA frame of HTTP/2 may be empty; such a chunk would end the
        body."""
        if isinstance(event, RequestData) and not event.data:
            return ()
        if type(event) is WholeRequest:
            return chain.from_iterable(map(self._write if event.trailers else super().send, event.parts))
        if isinstance(event, RequestTrailers):
            self._trailers = event.trailers
            return ()
        if isinstance(event, RequestEndOfMessage) and self._trailers is not None:
            trailers, self._trailers = self._trailers, None
            return closing(super().send(event), trailers)
        return super().send(event)

    def read_headers(self, event: events.ConnectionEvent) -> Generator[commands.Command, Any, None]:
        """Read a response head once it is whole, and has no flaw."""
        if isinstance(event, events.ConnectionClosed) and self._served and not self.buf and self.stream_id:
            yield commands.CloseConnection(self.conn)
            yield ReceiveHttp(once_more.Unanswered(self.stream_id, "server closed connection", BAD_GATEWAY))
            self.state = self.done
            return
        if isinstance(event, events.DataReceived) and self.request and self.stream_id is not None:
            head = self.buf.head()
            flaw = response_flaw(head) if head is not None else None
            while flaw is None and head is not None and _interim(head):
                self.buf.maybe_extract_lines()
                head = self.buf.head()
                flaw = response_flaw(head) if head is not None else None
            if len(self.buf if head is None else head) > HEAD_LIMIT:
                flaw = flaw or "it is larger than 64 KiB"
            if flaw is not None:
                yield commands.CloseConnection(self.conn)
                message = f"the response head is malformed: {flaw}"
                yield ReceiveHttp(ResponseProtocolError(self.stream_id, message, BAD_GATEWAY))
                self.state = self.done
                return
        yield from super().read_headers(event)


def is_free(connection: Connection, layer: Any) -> bool:
    """Is it an open connection to an HTTP/1 server on which nothing is under way?"""
    innermost = layer.context.layers[-1]
    return (
        isinstance(innermost, PatientHttp1Client)
        and innermost.conn is connection
        and connection.connected
        and innermost.stream_id is None
        and innermost.state == innermost.read_headers
        and not innermost.buf
    )


def _interim(data: bytes) -> bool:
    """Do these bytes begin with the head of a 1xx response other than 101?"""
    line = data[:12]
    return len(line) == 12 and line.startswith(b"HTTP/1.") and line[8:10] == b" 1" and line[9:12] != b"101"


def refused(refusal: error_responses.Refusal) -> bytes:
    """A whole refusal, as it is written."""
    answer = refusal.response()
    head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    return f"HTTP/1.1 {answer.status} {answer.reason}\r\n{head}\r\n".encode() + (answer.body or b"")


def _make_error_response(status_code: int, message: str = "") -> bytes:
    return refused(error_responses.Refusal(status_code, "faultwire_malformed", message))


def install() -> None:
    """Install the fixes where mitmproxy looks these names up."""
    _http1.make_error_response = _make_error_response
    http_layer.Http1Client = PatientHttp1Client  # type: ignore[attr-defined]
