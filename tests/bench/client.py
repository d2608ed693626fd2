"""A lean HTTP/1.1 client connection: CONNECT, TLS, and one exchange at a time on an asyncio Protocol."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any, cast

from tests.bench import frames


@dataclass(frozen=True)
class Target:
    """Where to go: `host:port` inside `proxy` (`host:port`; None: direct), trusting `ca`."""

    host: str
    port: int
    ca: str
    proxy: str | None = None
    auth: str | None = None
    """Value of `Proxy-Authorization`."""
    plain: bool = False
    """HTTP without TLS: the proxy is asked for the whole URL."""


@dataclass
class Answer:
    """One response; `body` holds no chunk framing. `first_s` is from the request to the body's first byte."""

    head: bytes = b""
    body: bytearray = field(default_factory=bytearray)
    first_s: float = 0.0

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1])


class Broken(ConnectionError):
    """The connection ended before the answer did."""


class Connection(asyncio.Protocol):
    """One connection. `exchange` sends a request and waits for the whole answer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._done: asyncio.Future[Answer] | None = None
        self._answer = Answer()
        self._left: int | None = None
        self._chunked = False
        self._sent_at = 0.0
        self._frames: frames.Reader | None = None
        self._inbox: asyncio.Queue[bytes] = asyncio.Queue()
        self._places: tuple[bytes, bytes] | None = None

    @classmethod
    async def open(cls, target: Target, context: ssl.SSLContext) -> Connection:
        loop = asyncio.get_running_loop()
        host, port = (target.proxy or f"{target.host}:{target.port}").rsplit(":", 1)
        transport, self = await loop.create_connection(
            cls, "127.0.0.1" if host == "localhost" else host, int(port)
        )
        if target.plain:
            self._transport = transport
            if target.proxy:
                auth = f"Proxy-Authorization: {target.auth}\r\n" if target.auth else ""
                self._places = f" http://{target.host}:{target.port}/".encode(), auth.encode()
            return self
        try:
            if target.proxy:
                place = f"{target.host}:{target.port}"
                auth = f"Proxy-Authorization: {target.auth}\r\n" if target.auth else ""
                await self._connect(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{auth}\r\n".encode())
            secured = await loop.start_tls(transport, self, context, server_hostname=target.host)
        except BaseException:
            transport.abort()
            raise
        if secured is None:
            raise Broken("the connection was closed in its TLS handshake")
        self._transport = secured
        return self

    async def _connect(self, request: bytes) -> None:
        self._left = 0  # a CONNECT's answer has no body
        answer = await self.exchange(request, bodyless=True)
        if answer.status != 200:
            raise Broken(f"CONNECT was answered {answer.status}")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(Broken(f"closed in the middle: {exc}"))
        self._inbox.put_nowait(b"")

    def close(self) -> None:
        """End at once, as a client does that drops its socket."""
        self._transport.abort()

    async def exchange(self, request: bytes, *, bodyless: bool = False) -> Answer:
        self._done = self._loop.create_future()
        self._answer = Answer()
        self._left = 0 if bodyless else None
        self._chunked = False
        self._sent_at = self._loop.time()
        self._transport.write(self._addressed(request))
        return await self._done

    def _addressed(self, request: bytes) -> bytes:
        """As a proxy that is asked for plain HTTP wants it (RFC 9112, 3.2.2)."""
        if self._places is None:
            return request
        url, auth = self._places
        line, _, rest = request.replace(b" /", url, 1).partition(b"\r\n")
        return line + b"\r\n" + auth + rest

    # ---------------------------------------------------------------- receiving

    def data_received(self, data: bytes) -> None:
        if self._frames is not None:
            for opcode, payload in self._frames.feed(data):
                if opcode in (frames.TEXT, frames.BINARY):
                    self._inbox.put_nowait(payload)
            return
        self._buffer += data
        answer = self._answer
        if not answer.head:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            answer.head = bytes(self._buffer[: end + 4])
            del self._buffer[: end + 4]
            self._read_head(answer.head)
        if self._buffer and not answer.first_s:
            answer.first_s = self._loop.time() - self._sent_at
        whole = self._read_chunks(answer.body) if self._chunked else self._read_length(answer.body)
        if whole and self._done is not None and not self._done.done():
            self._done.set_result(answer)

    def _read_head(self, head: bytes) -> None:
        if self._left == 0:
            return
        lower = head.lower()
        at = lower.find(b"\r\ncontent-length:")
        if at >= 0:
            self._left = int(lower[at + 17 : lower.find(b"\r\n", at + 2)])
        elif b"\r\ntransfer-encoding: chunked\r\n" in lower:
            self._chunked = True
        else:
            self._left = 0

    def _read_length(self, body: bytearray) -> bool:
        if self._left:
            body += self._buffer
            self._left -= len(self._buffer)
            self._buffer.clear()
        return self._left == 0

    def _read_chunks(self, body: bytearray) -> bool:
        buffer, at = self._buffer, 0
        while (line := buffer.find(b"\r\n", at)) >= 0:
            size = int(buffer[at:line], 16)
            end = line + 2 + size
            if len(buffer) < end + 2:
                break
            if size == 0:
                del buffer[: end + 2]
                return True
            body += buffer[line + 2 : end]
            at = end + 2
        del buffer[:at]
        return False

    # ---------------------------------------------------------------- websocket

    async def upgrade(self, request: bytes) -> None:
        """Switch to WebSocket; the request's key is not checked against the answer."""
        answer = await self.exchange(request, bodyless=True)
        if answer.status != 101:
            raise Broken(f"the upgrade was answered {answer.status}")
        self._frames = frames.Reader()

    async def echo(self, payload: bytes) -> bytes:
        """Send one text message and wait for the next one."""
        self._transport.write(frames.frame(frames.TEXT, payload, masked=True))
        return await self._inbox.get()


def trust(ca: str) -> ssl.SSLContext:
    """A context that trusts one CA file and nothing else."""
    return ssl.create_default_context(cafile=ca)


def as_target(given: dict[str, Any]) -> Target:
    return Target(**given)
