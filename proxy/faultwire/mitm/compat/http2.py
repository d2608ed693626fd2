"""Mends of mitmproxy's HTTP/2 side: a connection that is about to end ends no stream.

- GOAWAY without an error (RFC 9113 §6.8) says that no new streams are taken, and that those under way come to
  their end: Node sends it with every `close()`, and gRPC servers when a connection has lived long enough.
  mitmproxy drops the connection and all of them.
- A stream that waits for one of the places that the server allows hears of the connection's end. mitmproxy
  forgets it, and its client waits for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http2
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import ResponseProtocolError
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

if TYPE_CHECKING:
    from collections.abc import Generator

    from mitmproxy.proxy import events

    Commands = Generator[commands.Command, Any, None]

NO_ERROR, CANCEL = 0, 8
"""Codes of RFC 9113 §7."""


class GoawayAware(BufferedH2Connection):
    """Frames and states. `leaving` is the last stream that the peer still answers, once announced."""

    leaving: int | None = None

    def _receive_goaway_frame(self, frame: Any) -> Any:
        busy = self.open_inbound_streams + self.open_outbound_streams
        if frame.error_code != NO_ERROR or not busy:
            return super()._receive_goaway_frame(frame)
        self.leaving = frame.last_stream_id
        return [], []

    @property
    def left(self) -> bool:
        """Has the peer announced that it leaves, and is no stream open any more?"""
        return self.leaving is not None and not (self.open_inbound_streams or self.open_outbound_streams)


class _Patient(_http2.Http2Connection):
    """Either side of it."""

    h2_conn: GoawayAware

    def _handle_event(self, event: events.Event) -> Commands:
        yield from super()._handle_event(event)
        if self.h2_conn.left:
            self.h2_conn.leaving = None
            self.streams.clear()
            self._handle_event = self.done  # type: ignore[method-assign]
            yield commands.CloseConnection(self.conn)


class PatientHttp2Server(_Patient, _http2.Http2Server):
    """mitmproxy's side towards an HTTP/2 client."""


class PatientHttp2Client(_Patient, _http2.Http2Client):
    """mitmproxy's side towards an HTTP/2 server. Streams have numbers of theirs, and others towards us."""

    _over: str | None = None
    _never_begun: tuple[int, ...] = ()

    def _handle_event(self, event: events.Event) -> Commands:
        yield from super()._handle_event(event)
        last = self.h2_conn.leaving
        if last is not None:
            self.conn.state &= ~ConnectionState.CAN_WRITE  # the next streams get a new connection
            self._end_queue("the server is leaving")
            for ours in [one for one in self.streams if one > last and not self.is_closed(one)]:
                del self.streams[ours]
                self.h2_conn.reset_stream(ours, CANCEL)
                self._never_begun += (self.their_stream_id[ours],)
            if data := self.h2_conn.data_to_send():
                yield commands.SendData(self.conn, data)
        lost, self._never_begun = self._never_begun, ()
        for theirs in lost:
            code: Any = self.ReceiveProtocolError.code
            yield ReceiveHttp(ResponseProtocolError(theirs, self._over or "", code))

    def close_connection(self, msg: str) -> Commands:
        """The end of all streams; those that wait hear of it behind this event, by their own numbers."""
        self._end_queue(msg)
        yield from super().close_connection(msg)

    def _end_queue(self, why: str) -> None:
        self._over = why
        self._never_begun += tuple(self.stream_queue)
        self.stream_queue.clear()


def install() -> None:
    """Install the fixes where mitmproxy looks these names up."""
    _http2.BufferedH2Connection = GoawayAware  # type: ignore[attr-defined]
    http_layer.Http2Client = PatientHttp2Client  # type: ignore[attr-defined]
    http_layer.Http2Server = PatientHttp2Server  # type: ignore[attr-defined]
