"""Mends of mitmproxy's HTTP/2 side: a connection that is about to end ends no stream.

- GOAWAY without an error (RFC 9113 §6.8) says that no new streams are taken, and that those under way come to
  their end: Node sends it with every `close()`, and gRPC servers when a connection has lived long enough.
  mitmproxy drops the connection and all of them.
- A stream that waits for one of the places that the server allows hears of the connection's end. mitmproxy
  forgets it, and its client waits for ever.
- What a peer may make us keep, and do, is bounded (`compat.http2_frames`): header blocks that do not end
  (CVE-2024-27316), frames longer than announced, settings without end, streams that are opened to be reset
  (CVE-2023-44487), also where it makes us reset them (CVE-2025-8671).
- Of a response that a fault holds back no more comes than a window holds (RFC 9113 §5.2), while the other
  streams of its connection go on.
- Heads and trailers are validated by us (`compat.heads`), not by h2: a flaw ends one stream, not all of the
  connection, and a client is told what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h2.config
import h2.events
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http2
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestProtocolError
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

from faultwire import clock
from faultwire.mitm.compat import http2_frames as frames
from faultwire.mitm.compat.heads import request_flaw, response_flaw, trailers_flaw
from faultwire.mitm.compat.once_more import Unprocessed
from faultwire.mitm.compat.written import Written
from faultwire.mitm.messages import error_responses

if TYPE_CHECKING:
    from collections.abc import Generator

    from mitmproxy.proxy.context import Context

    Commands = Generator[commands.Command, Any, None]

NO_ERROR, PROTOCOL_ERROR, CANCEL, ENHANCE_YOUR_CALM = 0, 1, 8, 11
"""Codes of RFC 9113 §7."""


class GoawayAware(frames.Withholding, BufferedH2Connection):
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
    _frames: frames.FrameReader

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, events.DataReceived):
            flaw = self._frames.feed(event.data, clock.monotonic())
            if flaw is not None:
                yield from self.protocol_error(flaw, ENHANCE_YOUR_CALM)
                return
        yield from super()._handle_event(event)
        if self.h2_conn.encoder.header_table_size > frames.MOST_TABLE:
            self.h2_conn.encoder.header_table_size = frames.MOST_TABLE
        if self.h2_conn.left:
            self.h2_conn.leaving = None
            self.streams.clear()
            self._handle_event = self.done  # type: ignore[method-assign]
            yield commands.CloseConnection(self.conn)

    def _prepare(self) -> None:
        """Let h2 hand on what it would end the whole connection for; read along what our peer sends."""
        client = not self.h2_conf.client_side
        self._frames = frames.FrameReader(client=client)
        config = h2.config.H2Configuration(
            **{**_http2.Http2Connection.h2_conf_defaults, "client_side": self.h2_conf.client_side}
        )
        config.validate_inbound_headers = False
        self.h2_conn.config = config

    def _break(self, stream_id: int, message: str) -> Commands:
        """A stream's response head or trailers are malformed: it ends, for the peer and for us."""
        self.streams.pop(stream_id, None)
        if not self.is_closed(stream_id):  # it is, where both sides have ended it
            self.h2_conn.reset_stream(stream_id, PROTOCOL_ERROR)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        code: Any = self.ReceiveProtocolError.code
        yield ReceiveHttp(self.ReceiveProtocolError(stream_id, message, code))


class PatientHttp2Server(_Patient, _http2.Http2Server):
    """mitmproxy's side towards an HTTP/2 client."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._prepare()
        self._resets = frames.Allowance(frames.MOST_RESETS, frames.RESETS_A_SECOND)
        self._layer: Any = next(
            (one for one in reversed(context.layers) if hasattr(one, "head_refused")), None
        )
        from faultwire.mitm.compat.http2_faults import StreamFaults  # few engines serve HTTP/2

        self._faults = StreamFaults(self, self._layer)

    def _handle_event(self, event: events.Event) -> Commands:
        before = self._frames.pending
        if self._faults.takes(event):
            if data := self.h2_conn.data_to_send():
                yield commands.SendData(self.conn, data)
        else:
            yield from super()._handle_event(event)
        if self._faults.over:
            self.streams.clear()
            self._handle_event = self.done  # type: ignore[method-assign]
            yield commands.CloseConnection(self.conn)
        if self._frames.pending != before and self._layer is not None:
            self._layer.head_pending(self._frames.pending)

    def handle_h2_event(self, event: Any) -> Generator[commands.Command, Any, bool]:
        """Take a request, or refuse it."""
        if self._faults.refuses(event):
            return False
        if (wakes := self._faults.watch(event)) is not None:
            yield wakes
        if isinstance(event, h2.events.RequestReceived):
            flaw = request_flaw(event.headers)
            if flaw is not None:
                yield from self._refuse(event.stream_id, f"the request head is malformed: {flaw}")
                return False
        elif isinstance(event, h2.events.TrailersReceived):
            flaw = trailers_flaw(event.headers, http2=True)
            if flaw is not None:
                yield from self._break(event.stream_id, f"the trailers are malformed: {flaw}")
                return False
        elif isinstance(event, h2.events.StreamReset) and event.stream_id in self.streams:
            if not self._resets.take(clock.monotonic()):
                yield from self._calm(f"it made {frames.MOST_RESETS} calls at once that it gave up")
                return True
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.streams:
            return (yield from self._ended(event))
        return (yield from super().handle_h2_event(event))

    def _calm(self, why: str) -> Commands:
        """A client asks too much of us: its connection ends, with an error that no fault made."""
        yield from self.protocol_error(why, ENHANCE_YOUR_CALM)
        if self._layer is not None:
            self._layer.flooded(f"a connection of HTTP/2 was ended: {why}")

    def _ended(self, event: Any) -> Generator[commands.Command, Any, bool]:
        """A request is whole. Where its stream was reset by what came with the same bytes, it is kept until
        that is handled: whoever works for it would not hear that nobody waits for it any more."""
        state = self.streams[event.stream_id]
        over = yield from super().handle_h2_event(event)
        if self.h2_conn._stream_is_closed_by_reset(event.stream_id):
            self.streams.setdefault(event.stream_id, state)
        return over

    def _refuse(self, stream_id: int, message: str) -> Commands:
        answer = error_responses.Refusal(400, "faultwire_malformed", message).response()
        fields = [(name.encode(), value.encode()) for name, value in answer.headers if name != "connection"]
        if self.is_open_for_us(stream_id):  # else the client has reset it already
            self.h2_conn.send_headers(stream_id, [(b":status", b"400"), *fields])
            self.h2_conn.send_data(stream_id, answer.body or b"", end_stream=True)
            if not self.is_closed(stream_id):
                self.h2_conn.reset_stream(stream_id, NO_ERROR)  # RFC 9113 §8.1: the rest of it is not wanted
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())
        if self._layer is not None:
            self._layer.head_refused()


class PatientHttp2Client(_Patient, _http2.Http2Client):
    """mitmproxy's side towards an HTTP/2 server. Streams have numbers of theirs, and others towards us."""

    _over: str | None = None
    _never_begun: tuple[int, ...] = ()

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._prepare()
        self.h2_conn.limit_streams()
        self._written = Written(context, http2=True)

    def withhold(self, stream_id: int) -> None:
        """Let the server send no more in a stream of the client's than it may already, until `ReadOn`."""
        if stream_id in self.our_stream_id:
            self.h2_conn.withhold(self.our_stream_id[stream_id])

    def _read_on(self, stream_id: int) -> Commands:
        self.h2_conn.read_on(self.our_stream_id.get(stream_id, 0))
        if data := self.h2_conn.data_to_send():
            yield commands.SendData(self.conn, data)

    def _handle_event2(self, event: events.Event) -> Commands:
        ours = event.stream_id if isinstance(event, HttpEvent) else 0
        theirs = self.their_stream_id.get(ours, ours)
        yield from self._written.seen(super()._handle_event2(event), self.conn, theirs)

    def handle_h2_event(self, event: Any) -> Generator[commands.Command, Any, bool]:
        """Take a response, or end its stream where it is malformed."""
        flaw, what = None, "the response head is"
        if isinstance(event, h2.events.ResponseReceived):
            flaw = response_flaw(event.headers)
        elif isinstance(event, h2.events.TrailersReceived):
            flaw, what = trailers_flaw(event.headers, http2=True), "the trailers are"
        if flaw is not None:
            yield from self._break(event.stream_id, f"{what} malformed: {flaw}")
            return False
        if isinstance(event, h2.events.StreamEnded | h2.events.StreamReset):
            self.h2_conn.read_on(event.stream_id)  # nothing more comes in it
        return (yield from super().handle_h2_event(event))

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, frames.ReadOn):
            yield from self._read_on(event.stream_id)
            return
        yield from super()._handle_event(event)
        if isinstance(event, RequestProtocolError):
            yield from self._read_on(event.stream_id)  # nobody takes what is withheld of it
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
            yield ReceiveHttp(Unprocessed(theirs, self._over or "", code))

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
