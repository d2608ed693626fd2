"""The mock's listening sockets: one event loop, HTTP and HTTPS, each event of a stream sent by itself."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError
from faultwire.mock import http1
from faultwire.mock._api import Answer
from faultwire.wire.editing import plain_errors

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from types import TracebackType

    from faultwire.events import Request
    from faultwire.mock._api import Break, Session
    from faultwire.mock.clients import Client
    from faultwire.mock.feed import Feed
    from faultwire.mock.gate import Gate
    from faultwire.mock.websocket import Socket

    Answering = Callable[[Request], Answer]

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HTTP2 = b"PRI * HTTP/2.0\r\n"
"""How a client that speaks HTTP/2 begins (RFC 9113 §3.4)."""


class MockServer:
    """Answers on `http` (and `https` where a TLS context was given) until it is closed.

    `async with MockServer(Answerer()) as server: …`; `hold` stops streams half way, for tests.
    """

    def __init__(
        self,
        answering: Answering,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        tls_port: int = 0,
        hold: Gate | None = None,
    ) -> None:
        self.http = port
        self.https = tls_port
        self.requests = 0
        """Requests that were answered, or begun to be."""
        self.answer = answering
        self._host = host
        self._tls = tls
        self.hold = hold
        self._servers: list[asyncio.Server] = []
        self._connections: set[Client] = set()

    def join(self, connection: Client) -> None:
        """A client has come."""
        self._connections.add(connection)

    def leave(self, connection: Client) -> None:
        """A client is gone."""
        self._connections.discard(connection)

    async def start(self) -> None:
        """Listen. Raises UsageError where a port is taken."""
        self.http = await self._listen(self.http, None)
        if self._tls is not None:
            self.https = await self._listen(self.https, self._tls)

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.abort()
        self._servers.clear()

    async def __aenter__(self) -> MockServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _listen(self, port: int, tls: ssl.SSLContext | None) -> int:
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: _Connection(self, "https" if tls else "http"), self._host, port, ssl=tls
            )
        except OSError as error:
            raise _cannot_listen(self._host, port, error) from None
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound


def _cannot_listen(host: str, port: int, error: OSError) -> FaultwireError:
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"port `{port}` on `{host}` is taken, expected a free one",
            code="mock.port_taken",
            hint="leave the port out to have one chosen",
        )
    return UsageError(f"cannot listen on `{host}` port `{port}`: {error.strerror}", code="mock.cannot_listen")


class _Connection(asyncio.Protocol):
    """One client; its requests are answered one after the other."""

    def __init__(self, server: MockServer, scheme: str) -> None:
        self._server = server
        self._requests = http1.Requests(scheme)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._socket: Socket | None = None
        self._scheme = scheme
        self._fresh = True
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.leave(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()
        if self._socket is not None:
            self._socket.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        if self._fresh and data.startswith(_HTTP2):
            self._speak_http2(data)
            return
        self._fresh = False
        if self._socket is not None:
            self._socket.receive(data)
            return
        self._requests.feed(data)
        if self._task is None:
            self._advance()

    def _speak_http2(self, data: bytes) -> None:
        """From its first bytes on the client speaks HTTP/2."""
        from faultwire.mock.http2 import Http2  # h2 is not needed for the rest

        assert self._transport is not None
        other = Http2(self._server, self._scheme)
        self._server.leave(self)
        self._transport.set_protocol(other)
        other.connection_made(self._transport)
        other.data_received(data)

    def abort(self) -> None:
        """Drop the client."""
        if self._transport is not None:
            self._transport.abort()

    def _advance(self) -> None:
        """Answer what is there; an answer that takes time goes on in a task."""
        while self._task is None and self._transport is not None and not self._transport.is_closing():
            try:
                request = self._requests.next()
            except http1.BadRequest as bad:
                self._refuse(bad)
                return
            if request is None:
                if self._requests.wants_continue:
                    self._requests.wants_continue = False
                    self._transport.write(_CONTINUE)
                return
            self._answer(self._transport, request)

    def _refuse(self, bad: http1.BadRequest) -> None:
        error = plain_errors.error(bad.status, message=str(bad))
        answer = Answer(error.status, (("content-type", "application/json"),), error.body or b"")
        if self._transport is not None:
            self._transport.write(http1.whole(answer, close=True))
            self._transport.close()

    def _answer(self, transport: asyncio.Transport, request: Request) -> None:
        self._server.requests += 1
        answer = self._server.answer(request)
        close = http1.closes(request)
        if answer.session is not None:
            self._upgrade(transport, answer, answer.session)
            return
        breaks = answer.breaks is not None and answer.events is None
        if answer.events is None and answer.feed is None and not (answer.first_event_delay_ms or breaks):
            transport.write(http1.whole(answer, close=close))
            if close:
                transport.close()
            return
        self._task = asyncio.get_running_loop().create_task(self._perform(transport, answer, close=close))
        self._task.add_done_callback(self._done)

    def _upgrade(self, transport: asyncio.Transport, answer: Answer, session: Session) -> None:
        """From here on a WebSocket is spoken."""
        from faultwire.mock.websocket import Socket  # wsproto is not needed for the rest

        transport.write(http1.switching(answer))
        self._socket = Socket(session, transport, self._writable)
        self._socket.begin()
        self._socket.receive(self._requests.rest())

    async def _perform(self, transport: asyncio.Transport, answer: Answer, *, close: bool) -> None:
        if answer.feed is not None:
            await self._follow(transport, answer, answer.feed, close=close)
        elif answer.events is None:
            await clock.sleep(answer.first_event_delay_ms / 1000)
            if answer.breaks is not None:
                await self._break(transport, answer.breaks)
                return
            transport.write(http1.whole(answer, close=close))
        else:
            await self._stream(transport, answer, answer.events, close=close)
        if close:
            transport.close()

    async def _stream(
        self, transport: asyncio.Transport, answer: Answer, events: tuple[bytes, ...], *, close: bool
    ) -> None:
        gate = self._server.hold
        transport.write(http1.opening(answer, close=close))
        for index, event in enumerate(events):
            if gate is not None and index == gate.after_events:
                await gate.wait()
            if answer.breaks is not None and index >= answer.breaks.after_events:
                await self._break(transport, answer.breaks)
                return
            pause = answer.pause_ms(index)
            if pause:
                await clock.sleep(pause / 1000)
            await self._writable.wait()
            transport.write(http1.chunk(event))
        transport.write(http1.chunk(b""))

    async def _break(self, transport: asyncio.Transport, breaks: Break) -> None:
        """Fail, as a script wants it."""
        if breaks.how == "hang":
            await asyncio.Event().wait()
        elif breaks.how == "reset":
            raw = transport.get_extra_info("socket")
            if raw is not None:  # a socket that lingers for no time at all is reset, not closed
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()

    async def _follow(self, transport: asyncio.Transport, answer: Answer, feed: Feed, *, close: bool) -> None:
        """A stream that says something whenever there is something to say."""
        transport.write(http1.opening(answer, close=close))
        while (event := await feed.next()) is not None:
            await self._writable.wait()
            transport.write(http1.chunk(event))
        transport.write(http1.chunk(b""))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled():
            return
        try:
            task.result()
            self._advance()
        except Exception:
            self.abort()  # nobody waits for what does not come; asyncio does so where bytes came in
            raise
