"""Mends of mitmproxy's HTTP/1 side that a proxy in front of real programs needs.

- A head of more than `HEAD_LIMIT` bytes is refused; mitmproxy keeps any amount.
- `103 Early Hints` and its like are dropped; mitmproxy takes them for the final response, and the
  client then waits for ever.
- Trailers after a chunked body are dropped, which RFC 9110 §6.5.1 allows; mitmproxy raises, and the
  client's body stays cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from h11._readers import ChunkedReader
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import ResponseData, ResponseHeaders, ResponseProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mitmproxy.proxy.layers.http._base import HttpEvent

HEAD_LIMIT = 64 * 1024

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
    b"content-length: 94\r\nconnection: close\r\n\r\n"
    b'{"error": {"message": "the request head is larger than 64 KiB", "type": "faultwire_refused"}} '
)


class BoundedHttp1Server(_http1.Http1Server):
    """mitmproxy's side towards an HTTP/1 client, with a limit on the head."""

    on_refusal: Callable[[], None] | None = None
    """Told of every head that is refused here, so that nobody else hears of it."""
    _chunked = False

    def send(self, event: HttpEvent) -> Generator[commands.Command, Any, None]:
        """Write to the client; mitmproxy looks the framing up in the head for every chunk."""
        if type(event) is ResponseData:
            if data := event.data:  # an empty chunk would end the body
                framed = b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data
                yield commands.SendData(self.conn, framed)
            return
        yield from super().send(event)
        if isinstance(event, ResponseHeaders):
            self._chunked = "chunked" in event.response.headers.get("transfer-encoding", "").lower()

    def read_headers(self, event: events.ConnectionEvent) -> Generator[commands.Command, Any, None]:
        """Read a request head once it is whole."""
        yield from super().read_headers(event)
        too_large = self.state == self.read_headers and len(self.buf) > HEAD_LIMIT
        if too_large:
            yield commands.SendData(self.conn, _TOO_LARGE)
            yield commands.CloseConnection(self.conn)
            self.state = self.done
        if self.on_refusal is not None and (too_large or (self.state == self.done and not self.request)):
            self.on_refusal()


class PatientHttp1Client(_http1.Http1Client):
    """mitmproxy's side towards an HTTP/1 server, with a limit on the head and without interim ones."""

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
        from faultwire.mitm import compat  # it imports this module

        message = "the response head is larger than 64 KiB"
        yield ReceiveHttp(ResponseProtocolError(stream_id, message, compat.BAD_GATEWAY))


def _interim(data: bytes) -> bool:
    """Do these bytes begin with the head of a 1xx response other than 101?"""
    line = data[:12]
    return len(line) == 12 and line.startswith(b"HTTP/1.") and line[8:10] == b" 1" and line[9:12] != b"101"


class _WithoutTrailers(ChunkedReader):
    def __call__(self, buf: Any) -> Any:
        event = super().__call__(buf)
        return h11.EndOfMessage() if isinstance(event, h11.EndOfMessage) else event


_stock_reader = _http1.make_body_reader


def _make_body_reader(expected_size: int | None) -> Any:
    return _WithoutTrailers() if expected_size is None else _stock_reader(expected_size)


def install() -> None:
    """Put the mends where mitmproxy looks these names up."""
    _http1.make_body_reader = _make_body_reader
    http_layer.Http1Client = PatientHttp1Client  # type: ignore[attr-defined]
