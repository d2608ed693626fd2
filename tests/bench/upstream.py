"""The server behind the proxies, in a process of its own: `python -m tests.bench.upstream SERVER_PEM`.

It prints `{"port": N, "plain": M}` when it listens, with TLS and without, and ends when its standard input
does. What it answers is in the query of the request:

    size=N [&words=1]             a JSON body of N bytes (with blanks between words)
    events=N&bytes=N&gap_ms=N     server-sent events, each written by itself
    id=N&size=N [&stream=1]       a body that is this number's own; digests are kept
    flip=1                        one byte is changed after its digest was taken
    echo=1 [&stream=1&cut=N]      the request's body as JSON, or as events in pieces of N bytes
    cookie=1                      a cookie that holds the request's `x-api-key`

A request with `upgrade: websocket` gets an echo. A line `digests` on standard input prints what was
received and sent for each numbered exchange.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
import sys
from typing import cast
from urllib.parse import parse_qsl

from tests.bench import bodies, frames

_HEAD_JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n"
_HEAD_SSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"%bTransfer-Encoding: chunked\r\n\r\n"
)
_SWITCH = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: %b\r\n\r\n"
)

Seen = dict[str, dict[str, str]]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Server(asyncio.Protocol):
    """One connection: requests with a content-length, one after the other."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.buffer = bytearray()
        self.busy: asyncio.Task[None] | None = None
        self.echo: frames.Reader | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.busy is not None:
            self.busy.cancel()

    def data_received(self, data: bytes) -> None:
        if self.echo is not None:
            self._echo(data)
            return
        self.buffer += data
        if self.busy is None:
            self._next()

    def _next(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[: end + 4])
        length = int(_value(head, b"content-length") or 0)
        if len(self.buffer) < end + 4 + length:
            return
        body = bytes(self.buffer[end + 4 : end + 4 + length])
        del self.buffer[: end + 4 + length]
        self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        target = head.split(b" ", 2)[1].decode()
        asked = dict(parse_qsl(target.partition("?")[2]))
        cookie = _value(head, b"x-api-key") or b""
        extra = b"Set-Cookie: id=%b\r\n" % cookie if "cookie" in asked else b""
        if (key := _value(head, b"sec-websocket-key")) is not None:
            self.transport.write(_SWITCH % frames.accept(key))
            self.echo = frames.Reader()
        elif "id" in asked:
            self._numbered(asked, head, body, extra)
        elif "echo" in asked:
            self._back(asked, body, extra)
        elif "events" in asked:
            events, size, gap = (int(asked.get(name, "0")) for name in ("events", "bytes", "gap_ms"))
            self.transport.write(_HEAD_SSE % extra)
            self._stream(bodies.sse_chunks(events, size), gap / 1000)
        else:
            answer = bodies.json_body(int(asked.get("size", "2048")), words="words" in asked)
            self.transport.write(_HEAD_JSON % (extra, len(answer)) + answer)

    def _stream(self, chunks: tuple[bytes, ...] | list[bytes], gap: float) -> None:
        if gap:
            self.busy = asyncio.get_running_loop().create_task(self._paced(chunks, gap))
            return
        for chunk in chunks:
            self.transport.write(chunk)
        self.transport.write(bodies.LAST_CHUNK)

    async def _paced(self, chunks: tuple[bytes, ...] | list[bytes], gap: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for chunk in chunks:
            self.transport.write(chunk)
            due += gap
            await asyncio.sleep(max(0.0, due - loop.time()))
        self.transport.write(bodies.LAST_CHUNK)
        self.busy = None
        self._next()

    def _numbered(self, asked: dict[str, str], head: bytes, body: bytes, extra: bytes) -> None:
        number, size = int(asked["id"]), int(asked.get("size", "2048"))
        if "stream" in asked:
            pieces = bodies.numbered_sse(number, size)
            said = _HEAD_SSE % extra
        else:
            pieces = [bodies.numbered_json(number, size)]
            said = _HEAD_JSON % (extra, len(pieces[0]))
        self.seen[asked["id"]] = {
            "request_head": digest(head),
            "request_body": digest(body),
            "response_head": digest(said),
            "response_body": digest(b"".join(pieces)),
        }
        if "flip" in asked:
            middle = len(pieces) // 2
            pieces[middle] = bodies.flipped(pieces[middle])
        self.transport.write(said)
        if "stream" in asked:
            self._stream([bodies.chunked(piece) for piece in pieces], 0)
        else:
            self.transport.write(pieces[0])

    def _back(self, asked: dict[str, str], body: bytes, extra: bytes) -> None:
        if "stream" not in asked:
            self.transport.write(_HEAD_JSON % (extra, len(body)) + body)
            return
        stream, cut = b"data: %b\n\ndata: [DONE]\n\n" % body, int(asked["cut"])
        pieces = [stream[at : at + cut] for at in range(0, len(stream), cut)]
        self.transport.write(_HEAD_SSE % extra)
        self._stream([bodies.chunked(piece) for piece in pieces], 0)

    def _echo(self, data: bytes) -> None:
        if self.echo is None:
            return
        for opcode, payload in self.echo.feed(data):
            if opcode == frames.CLOSE:
                self.transport.write(frames.frame(frames.CLOSE, payload))
                self.transport.close()
            elif opcode in (frames.TEXT, frames.BINARY):
                self.transport.write(frames.frame(opcode, payload))
            elif opcode == frames.PING:
                self.transport.write(frames.frame(frames.PONG, payload))


def _value(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    return None


async def main(pem: str) -> None:
    seen: Seen = {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(seen), "127.0.0.1", 0, ssl=context, backlog=512)
    stdin = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    plain = await loop.create_server(lambda: Server(seen), "127.0.0.1", 0, backlog=512)
    ports = [one.sockets[0].getsockname()[1] for one in (server, plain)]
    print(json.dumps(dict(zip(("port", "plain"), ports, strict=True))), flush=True)
    while await stdin.readline():
        print(json.dumps(seen), flush=True)
        seen.clear()
    server.close()
    plain.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
