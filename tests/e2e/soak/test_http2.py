"""Calm exchanges over HTTP/2, with clients that offer HTTP/1.1 too: no byte is another, no stream waits."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ssl
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.bench import load, pki, subjects
from tests.bench.client import Target, trust
from tests.bench.rig import Rig

from faultwire.mitm.engine.client import Engine
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

COUNTS = [300, pytest.param(10_000, marks=pytest.mark.nightly)]
AT_ONCE = 20
"""Streams of one connection under way at a time."""
CONNECTIONS = 4
KINDS = (["numbered"] * 3 + ["stream"] * 2) * 20 + ["large"] * 2
FLIPPED = (3, 4, 100, 101)
STREAMS = [pytest.param(100, 2, id="100"), pytest.param(1000, 10, id="1000", marks=pytest.mark.nightly)]
PATIENCE_S = 300
"""For all streams of a test to begin; each has a connection of its own to the server."""
Digests = dict[str, dict[str, str]]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path) as made:
        yield made


def digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def client(target: Target) -> httpx.AsyncClient:
    """One that keeps to one connection, and speaks HTTP/2 where that is agreed on."""
    assert target.auth is not None
    user = base64.b64decode(target.auth.removeprefix("Basic ")).decode()
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    proxy = f"http://{user}@{target.proxy}"
    return httpx.AsyncClient(
        http2=True, proxy=proxy, verify=trust(target.ca), limits=limits, timeout=120, trust_env=False
    )


def asked(number: int, flip: bool) -> tuple[str, bytes]:
    """Path and body of a numbered exchange, as the load over HTTP/1.1 has them."""
    kind = KINDS[number % len(KINDS)]
    head, _, body = load.numbered(number, kind, flip).partition(b"\r\n\r\n")
    return head.split(b" ", 2)[1].decode(), body


async def calls(target: Target, count: int, flipped: tuple[int, ...] = ()) -> tuple[Digests, set[str]]:
    """What was sent and what came of each, and the protocols that were spoken."""
    seen: Digests = {}
    spoken: set[str] = set()
    numbers = iter(range(count))

    async def worker(one: httpx.AsyncClient) -> None:
        for number in numbers:
            path, body = asked(number, number in flipped)
            answer = await one.post(
                f"https://{target.host}:{target.port}{path}",
                content=body,
                headers={"content-type": "application/json", "accept-encoding": "identity"},
            )
            assert answer.status_code == 200, answer.text
            spoken.add(answer.http_version)
            seen[str(number)] = {"request_body": digest(body), "response_body": digest(answer.content)}

    clients = [client(target) for _ in range(CONNECTIONS)]
    try:
        await asyncio.gather(*(worker(one) for one in clients for _ in range(AT_ONCE)))
    finally:
        for one in clients:
            await one.aclose()
    return seen, spoken


def bodies(digests: Digests) -> Digests:
    names = ("request_body", "response_body")
    return {number: {name: parts[name] for name in names} for number, parts in digests.items()}


def run(rig: Rig, count: int, flipped: tuple[int, ...] = ()) -> tuple[Digests, Digests, Any, Any]:
    settings = subjects.settings(rig.folder / "run", rig.keys, http2=True)
    with Engine.start(settings) as engine:
        subject = subjects.opened(engine, "soak", subjects.ARMED, rig.port)
        here, spoken = asyncio.run(calls(subject.target, count, flipped))
        summary = engine.close_session("soak")
    assert spoken == {"HTTP/2"}
    return bodies(rig.upstream.ask("digests")), here, summary, settings


@pytest.mark.timeout(1800)  # 10,000 take five minutes and more on a busy machine
@pytest.mark.parametrize("count", COUNTS)
def test_exchanges_pass_unchanged_and_are_all_on_the_tape(rig: Rig, count: int) -> None:
    there, here, summary, settings = run(rig, count)
    assert len(there) == count
    assert here == there
    assert (summary.exchanges, summary.voids, summary.fired) == (count, (), {})
    report = verify(settings.tape, KeyRing(settings.ca_dir.parent / "keys").trusted())
    assert (report.findings, report.exchanges) == ([], count)
    with TapeReader.open(settings.tape) as tape:
        kept = sorted(digest(one.delivered.body) for one in tape.exchanges() if one.delivered)
    assert kept == sorted(parts["response_body"] for parts in there.values())


def test_the_comparison_sees_a_single_bit(rig: Rig) -> None:
    there, here, _, _ = run(rig, len(KINDS), FLIPPED)
    assert {int(number) for number in there if there[number] != here[number]} == set(FLIPPED)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
FIRST, LAST = b"data: 1\n\n", b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass
class Holding:
    """A server that begins every answer, and ends those to `/held` once it may."""

    wanted: int
    begun: int = 0
    all_begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(HEAD + chunk(FIRST))
                if b" /held " in head:
                    self.begun += 1
                    if self.begun == self.wanted:
                        self.all_begun.set()
                    await self.may_end.wait()
                writer.write(chunk(LAST) + b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def together(
    engine: Engine, keys: pki.Pki, streams: int, connections: int, expected: int
) -> tuple[int, Counter[tuple[str, int, bytes]]]:
    """How many streams were under way when `expected` had begun, and what came of each.

    A client that has no connection yet says nothing of HTTP/2: httpx lets one call through and keeps the
    others until that one has ended. So each of its connections is there before the streams are.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys.server)
    holding = Holding(expected)
    server = await asyncio.start_server(holding.serve, "127.0.0.1", 0, ssl=context, backlog=2048)
    port = server.sockets[0].getsockname()[1]
    target = subjects.opened(engine, "soak", subjects.ARMED, port).target
    clients = [client(target) for _ in range(connections)]

    async def ask(number: int, path: str) -> tuple[str, int, bytes]:
        answer = await clients[number % connections].get(
            f"https://{target.host}:{port}{path}", timeout=PATIENCE_S
        )
        return answer.http_version, answer.status_code, answer.content

    await asyncio.gather(*(ask(number, "/first") for number in range(connections)))
    asking = [asyncio.ensure_future(ask(number, "/held")) for number in range(streams)]
    async with asyncio.timeout(PATIENCE_S):
        await holding.all_begun.wait()
    most = (await asyncio.to_thread(engine.stats))["live"]
    holding.may_end.set()
    found = Counter(await asyncio.gather(*asking))
    for one in clients:
        await one.aclose()
    server.close()
    return most, found


@pytest.mark.parametrize(("streams", "connections"), STREAMS)
def test_streams_that_are_all_open_at_once_come_whole(streams: int, connections: int, tmp_path: Path) -> None:
    keys = pki.make(tmp_path / "pki")
    with Engine.start(subjects.settings(tmp_path / "run", keys, http2=True)) as engine:
        most, found = asyncio.run(together(engine, keys, streams, connections, streams))
        summary = engine.close_session("soak")
    assert (most, found) == (streams, Counter({("HTTP/2", 200, FIRST + LAST): streams}))
    assert (summary.exchanges, summary.voids) == (streams + connections, ())


def test_streams_that_the_engine_does_not_take_are_seen(tmp_path: Path) -> None:
    keys = pki.make(tmp_path / "pki")
    settings = subjects.settings(tmp_path / "run", keys, http2=True, max_exchanges=18)
    with Engine.start(settings) as engine:
        most, found = asyncio.run(together(engine, keys, 20, 2, 18))
    assert most == 18
    assert Counter(status for _, status, _ in found.elements()) == {200: 18, 503: 2}
