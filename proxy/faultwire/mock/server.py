"""The mock's listening sockets: one event loop, HTTP and HTTPS, each event of a stream sent by itself."""

from __future__ import annotations

import asyncio
import errno
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError
from faultwire.mock import http1
from faultwire.mock._api import Answer
from faultwire.wire import plain

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from types import TracebackType

    from faultwire.events import Request
    from faultwire.mock.gate import Gate

    Answering = Callable[[Request], Answer]

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


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
        self._answering = answering
        self._host = host
        self._tls = tls
        self._hold = hold
        self._servers: list[asyncio.Server] = []
        self._connections: set[_Connection] = set()

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
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._connections.discard(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._requests.feed(data)
        if self._task is None:
            self._advance()

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
        error = plain.error(bad.status, message=str(bad))
        answer = Answer(error.status, (("content-type", "application/json"),), error.body or b"")
        if self._transport is not None:
            self._transport.write(http1.whole(answer, close=True))
            self._transport.close()

    def _answer(self, transport: asyncio.Transport, request: Request) -> None:
        self._server.requests += 1
        answer = self._server._answering(request)
        close = http1.closes(request)
        if answer.events is None and not answer.first_event_delay_ms:
            transport.write(http1.whole(answer, close=close))
            if close:
                transport.close()
            return
        self._task = asyncio.get_running_loop().create_task(self._perform(transport, answer, close=close))
        self._task.add_done_callback(self._done)

    async def _perform(self, transport: asyncio.Transport, answer: Answer, *, close: bool) -> None:
        if answer.events is None:
            await clock.sleep(answer.first_event_delay_ms / 1000)
            transport.write(http1.whole(answer, close=close))
        else:
            await self._stream(transport, answer, answer.events, close=close)
        if close:
            transport.close()

    async def _stream(
        self, transport: asyncio.Transport, answer: Answer, events: tuple[bytes, ...], *, close: bool
    ) -> None:
        gate = self._server._hold
        transport.write(http1.opening(answer, close=close))
        for index, event in enumerate(events):
            if gate is not None and index == gate.after_events:
                await gate.wait()
            pause = answer.chunk_delay_ms if index else answer.first_event_delay_ms
            if pause:
                await clock.sleep(pause / 1000)
            await self._writable.wait()
            transport.write(http1.chunk(event))
        transport.write(http1.chunk(b""))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled():
            task.result()
            self._advance()
