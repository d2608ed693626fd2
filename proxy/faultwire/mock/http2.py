"""The mock over HTTP/2, which gRPC needs: over TLS by ALPN, and without TLS by prior knowledge (RFC 9113).

Framing and states are the `h2` library's; here are requests, answers with trailers, and flow control.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

from faultwire import clock
from faultwire.events import Request
from faultwire.mock.http1 import MAX_BODY

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from faultwire.events import Headers
    from faultwire.mock._api import Answer, Break
    from faultwire.mock.gate import Gate

    class Server(Protocol):
        """What a connection belongs to: a `server.MockServer`."""

        requests: int
        """Requests that were answered, or begun to be."""
        hold: Gate | None
        """What stops streams half way."""
        answer: Callable[[Request], Answer]
        """What answers a request."""

        def join(self, connection: Http2) -> None:
            """A connection is open."""

        def leave(self, connection: Http2) -> None:
            """It is closed."""


_HOP = frozenset(("connection", "keep-alive", "transfer-encoding", "upgrade"))
"""Fields that mean nothing between HTTP/2 peers (RFC 9113 §8.2.2)."""


class _Asked:
    """One request as it comes in."""

    def __init__(self, head: Request) -> None:
        self.head = head
        self.body = bytearray()

    def whole(self) -> Request:
        head = self.head
        return Request(
            head.method, head.scheme, head.host, head.port, head.path, head.headers, bytes(self.body)
        )


class _Frames(h2.connection.H2Connection):  # type: ignore[misc]  # untyped
    """Frames and states. GOAWAY without an error ends no stream (RFC 9113 §6.8); with h2 it ends all."""

    leaving = False

    def _receive_goaway_frame(self, frame: Any) -> Any:
        if frame.error_code != h2.errors.ErrorCodes.NO_ERROR:
            return super()._receive_goaway_frame(frame)
        self.leaving = True
        return [], []


class Http2(asyncio.Protocol):
    """One client; each of its streams is answered in a task of its own."""

    def __init__(self, server: Server, scheme: str) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding="latin-1")
        self._server = server
        self._scheme = scheme
        self._http = _Frames(config)
        self._transport: asyncio.Transport | None = None
        self._asked: dict[int, _Asked] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._room = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say how we speak."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.join(self)
        self._http.initiate_connection()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is left to answer."""
        self._server.leave(self)
        self._transport = None
        for task in list(self._tasks.values()):
            task.cancel()

    def abort(self) -> None:
        """Drop the client."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes as they come; what is no HTTP/2 ends the connection."""
        try:
            events = self._http.receive_data(data)
        except h2.exceptions.ProtocolError:
            self._flush()
            self.abort()
            return
        for event in events:
            self._take(event)
        self._flush()
        self._part()

    def _part(self) -> None:
        """Close once a client that leaves has heard all that it asked for."""
        if self._http.leaving and not (self._tasks or self._asked) and self._transport is not None:
            self._transport.close()

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=int() as stream):
                self._asked[stream] = _Asked(_head(event.headers, self._scheme))
            case h2.events.DataReceived(stream_id=int() as stream):
                self._http.acknowledge_received_data(event.flow_controlled_length, stream)
                asked = self._asked.get(stream)
                if asked is None:
                    return
                asked.body += event.data
                if len(asked.body) > MAX_BODY:
                    del self._asked[stream]
                    self._reset(stream, h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
            case h2.events.StreamEnded(stream_id=int() as stream) if stream in self._asked:
                self._begin(stream, self._asked.pop(stream).whole())
            case h2.events.StreamReset(stream_id=int() as stream):
                self._asked.pop(stream, None)
                if stream in self._tasks:
                    self._tasks[stream].cancel()
            case h2.events.ConnectionTerminated():
                self.abort()
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                self._room.set()

    def _begin(self, stream: int, request: Request) -> None:
        self._server.requests += 1
        answer = self._server.answer(request)
        if answer.session is not None or answer.feed is not None:
            # A WebSocket, and a stream that stays open, are spoken over HTTP/1.1 here.
            self._reset(stream, h2.errors.ErrorCodes.HTTP_1_1_REQUIRED)
            return
        task = asyncio.get_running_loop().create_task(self._perform(stream, answer))
        self._tasks[stream] = task
        task.add_done_callback(lambda done: self._done(stream, done))

    def _reset(self, stream: int, code: h2.errors.ErrorCodes) -> None:
        with suppress(h2.exceptions.StreamClosedError):  # the client was faster
            self._http.reset_stream(stream, code)

    def _done(self, stream: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(stream, None)
        if task.cancelled():
            return
        if task.exception() is not None:
            self.abort()
        task.result()
        self._part()

    async def _perform(self, stream: int, answer: Answer) -> None:
        with suppress(h2.exceptions.StreamClosedError):  # the client wants no more of it
            await self._send_answer(stream, answer)

    async def _send_answer(self, stream: int, answer: Answer) -> None:
        if answer.events is None:
            await clock.sleep(answer.pause_ms(0) / 1000)
        events = (answer.body,) if answer.events is None else answer.events
        length = (("content-length", str(len(answer.body))),) if answer.events is None else ()
        if answer.events is None and answer.breaks is not None:
            await self._break(stream, answer.breaks)
            return
        bare = answer.events is None and not answer.body
        fields = (*answer.headers, *answer.trailers) if bare else (*answer.headers, *length)
        self._http.send_headers(stream, _fields(answer.status, fields), end_stream=bare)
        self._flush()
        if bare:
            return
        gate = self._server.hold
        for index, event in enumerate(events):
            if gate is not None and index == gate.after_events:
                await gate.wait()
            if answer.breaks is not None and index >= answer.breaks.after_events:
                await self._break(stream, answer.breaks)
                return
            if answer.events is not None:
                await clock.sleep(answer.pause_ms(index) / 1000)
            await self._send(stream, event)
        if answer.trailers:
            self._http.send_headers(stream, _lower(answer.trailers), end_stream=True)
        else:
            self._http.end_stream(stream)
        self._flush()

    async def _break(self, stream: int, breaks: Break) -> None:
        """Fail, as a script wants it; the other streams go on."""
        if breaks.how == "hang":
            await asyncio.Event().wait()
        self._http.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        self._flush()

    async def _send(self, stream: int, data: bytes) -> None:
        """In frames that the client has room for."""
        at = 0
        while at < len(data):
            room = min(self._http.local_flow_control_window(stream), self._http.max_outbound_frame_size)
            if room <= 0:
                self._room.clear()
                await self._room.wait()
                continue
            self._http.send_data(stream, data[at : at + room])
            at += room
            self._flush()

    def _flush(self) -> None:
        data = self._http.data_to_send()
        if data and self._transport is not None:
            self._transport.write(data)


def _head(fields: Headers, scheme: str) -> Request:
    pseudo = {name: value for name, value in fields if name.startswith(":")}
    rest = tuple((name, value) for name, value in fields if not name.startswith(":"))
    host = pseudo.get(":authority") or "localhost"
    name = host.rpartition(":")[0] if host[-1:].isdigit() and ":" in host and host[-1] != "]" else host
    path = pseudo.get(":path", "/")
    return Request(pseudo.get(":method", "GET"), scheme, name.strip("[]"), 0, path, (*rest, ("host", host)))


def _fields(status: int, headers: Headers) -> list[tuple[str, str]]:
    return [(":status", str(status)), *_lower(headers)]


def _lower(headers: Headers) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers if name.lower() not in _HOP]
