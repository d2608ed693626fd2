"""The client side, in a process of its own: `python -m tests.bench.load`.

It reads a job (one JSON line) at a time and prints its outcome the same way; it ends when its
standard input does. A job:

    target       fields of `client.Target`
    count        exchanges to make in all
    connections  how many at a time, each on a connection that is kept (default 1)
    fresh        a new connection for every exchange (default false)
    warm         first one JSON exchange on each connection, not counted (default false)
    kinds        what to send, repeated: json, sse, burst, paced, numbered, stream, large, socket, raw,
                 shaped
    shape        `messages` of a shaped request's conversation, `size` of its body, `answer` of its answer
    pause_s      seconds to wait before each exchange (default 0)
    cpu_of       with `warm`: read this process's CPU when all connections have carried an exchange
    messages     to send and get back on each socket (default 10)
    raw          requests as text (Latin-1) for the kind `raw`, taken in turn
    first_id     the number of the first numbered exchange (default 0)
    flip         numbers whose upstream changes a byte after taking its digest
    retry        false: a broken connection ends its worker (default); true: it opens another

The outcome: `wall_s, done, errors` (the first few as text), `failed` (their count), `first_s` (for
each stream), `took_s` (for each json, sse, burst and paced one, to the end of its answer), `seen` (digests
of numbered exchanges, as the upstream keeps them), `answers` (head and body of raw ones, as text), `cpu_s`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from tests.bench.children import cpu_s
from tests.bench.client import Answer, Broken, Connection, Target, trust

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
PLAIN = "/things"
KEPT_ERRORS = 5
STREAMS = ("burst", "sse", "paced", "stream")


def request(path: str, query: str, body: bytes) -> bytes:
    head = (
        f"POST {path}?{query} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n"
        f"Authorization: Bearer sk-bench\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def question(number: int, *, stream: bool = False, size: int = 0) -> bytes:
    """A chat completion request."""
    asked = {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "user", "content": f"Question {number}: which river is the longest? " + "z" * size}
        ],
        "max_tokens": 64,
    }
    return json.dumps(asked | ({"stream": True} if stream else {})).encode()


NUMBER = "#000000"
"""In the last message of a shaped request: each gets one of its own, as no agent asks twice the same."""


def shaped(messages: int, size: int, answer: int = 2048) -> bytes:
    """A chat completion request of a conversation, of at least `size` bytes; `answer`: bytes of that."""
    turns = [
        {
            "role": ("assistant", "user")[(messages - number) % 2],
            "content": f"Message {number}. " + "a few words " * 5,
        }
        for number in range(messages)
    ]
    turns[-1]["content"] += NUMBER
    body = json.dumps({"model": "gpt-4o-mini", "messages": turns, "max_tokens": 64}).encode()
    missing = size - len(body)
    if missing > 0:
        turns[-1]["content"] += ("some more words, " * (missing // 17 + 1))[:missing]
        body = json.dumps({"model": "gpt-4o-mini", "messages": turns, "max_tokens": 64}).encode()
    return request(CHAT, f"size={answer}&words=1", body)


SIZES = (200, 2048, 2048)


def large_of(number: int) -> int:
    return 1_000_000 + number % 7


def numbered(number: int, kind: str, flip: bool) -> bytes:
    path = (CHAT, MESSAGES, PLAIN)[number % 3]
    size = large_of(number) if kind == "large" else SIZES[number % len(SIZES)]
    query = f"id={number}&size={size}" + ("&flip=1" if flip else "")
    if kind == "stream" or (kind == "large" and number % 2):
        return request(path, query + "&stream=1", question(number, stream=True))
    return request(path, query, question(number, size=3000 if kind == "large" else 0))


MADE: dict[str, Callable[[int], bytes]] = {
    "json": lambda n: request(CHAT, "size=2048", question(n % 50)),
    "sse": lambda n: request(CHAT, "events=20&bytes=150", question(n % 50, stream=True)),
    "burst": lambda n: request(CHAT, "events=200&bytes=150", question(n % 50, stream=True)),
    "paced": lambda n: request(CHAT, "events=100&bytes=150&gap_ms=5", question(n % 50, stream=True)),
}
UPGRADE = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Job:
    """One job on its way."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.target = Target(**given["target"])
        self.context = trust(self.target.ca)
        self.count: int = given["count"]
        self.connections: int = given.get("connections", 1)
        self.fresh: bool = given.get("fresh", False)
        self.warm: bool = given.get("warm", False)
        self.kinds: list[str] = given["kinds"]
        self.first_id: int = given.get("first_id", 0)
        self.flip: set[int] = set(given.get("flip", ()))
        self.messages: int = given.get("messages", 10)
        self.raw: list[str] = given.get("raw", [])
        self.answers: list[dict[str, str]] = []
        self.retry: bool = given.get("retry", False)
        self.pause_s: float = given.get("pause_s", 0.0)
        self.cpu_of: int | None = given.get("cpu_of")
        self.cpu_s: float | None = None
        self.cold = self.connections
        self.all_warm = asyncio.Event()
        shape = given.get("shape", {})
        self.shaped = shaped(**shape) if shape else b""
        self.next = count()
        self.done = 0
        self.failed = 0
        self.errors: list[str] = []
        self.first_s: list[float] = []
        self.took_s: list[float] = []
        self.seen: dict[str, dict[str, str]] = {}

    async def run(self) -> dict[str, Any]:
        began = time.monotonic()
        await asyncio.gather(*(self._worker() for _ in range(self.connections)))
        return {
            "cpu_s": self.cpu_s,
            "wall_s": time.monotonic() - began,
            "done": self.done,
            "failed": self.failed,
            "errors": self.errors,
            "first_s": self.first_s,
            "took_s": self.took_s,
            "seen": self.seen,
            "answers": self.answers,
        }

    async def _worker(self) -> None:
        connection: Connection | None = None
        while (at := next(self.next)) < self.count:
            try:
                if connection is None:
                    connection = await Connection.open(self.target, self.context)
                    if self.warm:
                        await connection.exchange(self.shaped or MADE["json"](at))
                        await self._warmed()
                if self.pause_s:
                    await asyncio.sleep(self.pause_s)
                await self._one(connection, at)
                self.done += 1
            except (OSError, Broken, ValueError) as error:
                self._fail(f"exchange {at}: {type(error).__name__}: {error}")
                if connection is not None:
                    connection.close()
                connection = None
                if not self.retry:
                    break
                continue
            if self.fresh or self._kind(at) == "socket":
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    async def _warmed(self) -> None:
        """Once all are, and where CPU is to be read, go on together."""
        if self.cpu_of is None:
            return
        self.cold -= 1
        if self.cold == 0:
            self.cpu_s = cpu_s(self.cpu_of)
            self.all_warm.set()
        await self.all_warm.wait()

    def _kind(self, at: int) -> str:
        return self.kinds[at % len(self.kinds)]

    async def _one(self, connection: Connection, at: int) -> None:
        kind = self._kind(at)
        if kind == "socket":
            await self._talk(connection)
            return
        number = self.first_id + at
        if kind == "raw":
            answer = await connection.exchange(self.raw[at % len(self.raw)].encode("latin-1"))
            self.answers.append(
                {"head": answer.head.decode("latin-1"), "body": answer.body.decode("latin-1")}
            )
        elif kind == "shaped":
            asked = self.shaped.replace(NUMBER.encode(), b"#%06d" % (number % 10**6), 1)
            answer = await connection.exchange(asked)
        elif kind in MADE:
            began = time.monotonic()
            answer = await connection.exchange(MADE[kind](at))
            self.took_s.append(time.monotonic() - began)
            self._check(kind, answer)
        else:
            sent = numbered(number, kind, number in self.flip)
            answer = await connection.exchange(sent)
            self.seen[str(number)] = _digests(sent, answer)
        if answer.status != 200:
            raise ValueError(f"answered {answer.status}: {bytes(answer.body[:200])!r}")
        if kind in STREAMS:
            self.first_s.append(answer.first_s)

    def _check(self, kind: str, answer: Answer) -> None:
        if kind == "json":
            whole = len(answer.body) == 2048
        else:
            whole = bytes(answer.body[-14:]) == b"data: [DONE]\n\n"
        if answer.status == 200 and not whole:
            raise ValueError(f"{kind}: {len(answer.body)} bytes came")

    async def _talk(self, connection: Connection) -> None:
        await connection.upgrade(UPGRADE)
        for n in range(self.messages):
            said = b'{"type":"response.create","n":%d,"pad":"%b"}' % (n, b"p" * 200)
            if await connection.echo(said) != said:
                raise ValueError("the echo differs")

    def _fail(self, text: str) -> None:
        self.failed += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(text)


def _digests(sent: bytes, answer: Answer) -> dict[str, str]:
    head, _, body = sent.partition(b"\r\n\r\n")
    parts = {
        "request_head": head + b"\r\n\r\n",
        "request_body": body,
        "response_head": answer.head,
        "response_body": answer.body,
    }
    return {name: hashlib.sha256(bytes(data)).hexdigest() for name, data in parts.items()}


async def main() -> None:
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    print(json.dumps({"ready": True}), flush=True)
    while line := await stdin.readline():
        running: Coroutine[Any, Any, dict[str, Any]] = Job(json.loads(line)).run()
        print(json.dumps(await running), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
