"""Hold thousands of streams that drip through one engine: `python -m tests.attacks.many_streams`.

Every event of each stream comes a minute after the one before. While all are open, calls of another session
are made one after the other. At the end each stream must have had every event, in order, and be on a tape
that verifies. Client and server are in this process. A server closes its connection behind each answer, so
that the engine has one descriptor for a stream, not two: 20,000 are what many machines allow. Exits with 1
where an event was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

import psutil
from tests.bench import pki, subjects

from faultwire.mitm.engine.client import Engine, SessionHandle
from faultwire.profile import load
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

SLOW = """
name: slow
description: Every event of a stream comes {ms} ms after the one before.
faults:
  - slow_tokens: {{ms: {ms}}}
    on: {{kind: llm}}
"""
EVENTS = 5
AT_ONCE = 64
"""Streams that are being opened at a time."""
BATCH, BATCHES = 50, 3
BODY = b'{"model": "gpt-4o", "stream": %s, "messages": [{"role": "user", "content": "%d"}]}'


def event(stream: bytes, number: int) -> bytes:
    said = b'{"choices": [{"delta": {"content": "%s.%d"}}]}' % (stream, number)
    return b"data: " + (b"[DONE]" if number == EVENTS else said) + b"\n\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer once with all events of the stream that is asked for, or with JSON on a kept connection."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.CancelledError):  # the engine needs it no more
            writer.close()
            return
        size = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]  # ours has one
        body = await reader.readexactly(size)
        if b'"stream": true' not in body:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
            continue
        stream = re.findall(rb'"content": "(\d+)"', body)[0]
        text = b"".join(event(stream, number) for number in range(EVENTS + 1))
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n%s" % (len(text), text)
        )
        writer.close()
        return


class Caller:
    """A client of one session, on one connection."""

    def __init__(self, engine: Engine, handle: SessionHandle, upstream: int) -> None:
        self._place, self._host = handle.port, f"localhost:{upstream}"
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def ask(self, number: int, *, stream: bool) -> None:
        """Send a request, on the connection that is there, and read the head of its response."""
        if not hasattr(self, "_writer"):
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._place)
        body = BODY % (b"true" if stream else b"false", number)
        self._writer.write(
            b"POST http://%s/v1/chat/completions HTTP/1.1\r\nhost: %s\r\ncontent-length: %d\r\n"
            b"content-type: application/json\r\n\r\n%s"
            % (self._host.encode(), self._host.encode(), len(body), body)
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise RuntimeError(f"stream {number}: {head!r} {await self._reader.read(1000)!r}")
        if not stream:
            await self._reader.readexactly(2)

    async def events(self) -> bytes:
        """What comes to the end of the stream."""
        text = b""
        while b"data: [DONE]\n\n" not in text and (piece := await self._reader.read(65536)):
            text += piece
        self.close()
        return text

    def close(self) -> None:
        self._writer.close()


async def tails(caller: Caller) -> list[tuple[float, float]]:
    """Median and 99th percentile of each batch, in ms."""
    found = []
    for _ in range(BATCHES):
        took = []
        for number in range(BATCH):
            began = time.monotonic()
            await caller.ask(number, stream=False)
            took.append(1000 * (time.monotonic() - began))
        found.append((median(took), quantiles(took, n=100)[98]))
    return found


async def run(engine: Engine, streams: int, profile: str) -> Counter[str]:
    """Open all, ask beside them, and hear them to their end; how many had what."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    upstream = server.sockets[0].getsockname()[1]
    slow = engine.open_session("slow", load.dump(load.parse(profile, "slow.yaml")), 1)
    calm = engine.open_session("calm", load.dump(load.parse(subjects.ARMED, "armed.yaml")), 1)
    process, gate = psutil.Process(engine.pid), asyncio.Semaphore(AT_ONCE)
    found: Counter[str] = Counter()

    async def hold(number: int) -> None:
        caller = Caller(engine, slow, upstream)
        async with gate:
            await caller.ask(number, stream=True)
        text = await caller.events()
        wanted = [event(b"%d" % number, n) for n in range(EVENTS + 1)]
        came = re.findall(rb"data: [^\r\n]*\n\n", text)  # between them is the framing of chunks
        found["whole" if came == wanted else f"{len(came)} events of {len(wanted)}"] += 1

    asker = Caller(engine, calm, upstream)
    await asker.ask(0, stream=False)
    alone, before = await tails(asker), process.memory_info().rss
    began, cpu = time.monotonic(), sum(process.cpu_times()[:2])
    held = [asyncio.ensure_future(hold(number)) for number in range(streams)]
    while (live := engine.stats()["live"]) < streams and not any(one.done() for one in held):  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    opened, used = time.monotonic() - began, sum(process.cpu_times()[:2]) - cpu
    resident, descriptors = process.memory_info().rss, process.num_fds()
    beside = await tails(asker)
    still = engine.stats()["live"]
    print(
        f"{live} streams open after {opened:.0f} s ({used:.0f} s of CPU), {still} after the calls beside; "
        f"{descriptors} descriptors; {before / 2**20:.0f} MB before, {resident / 2**20:.0f} MB with them "
        f"({(resident - before) / max(live, 1) / 1024:.0f} KB a stream)\n"
        f"a call beside them: median {median(a for a, _ in alone):.1f} ms alone, "
        f"{median(b for b, _ in beside):.1f} ms beside; 99th percentile {median(a for _, a in alone):.1f} ms "
        f"alone, {median(b for _, b in beside):.1f} ms beside",
        flush=True,
    )
    await asyncio.gather(*held)
    asker.close()
    server.close()
    await server.wait_closed()
    return found


def main() -> int:
    """Run it, and say what was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.many_streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--ms", type=int, default=60_000, help="between two events of a stream")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="faultwire-streams-"))
    most = asked.streams + 64
    settings = subjects.settings(
        folder / "run",
        pki.make(folder / "pki"),
        max_exchanges=most,
        per_source=most,
    )
    with Engine.start(settings) as engine:
        found = asyncio.run(run(engine, asked.streams, SLOW.format(ms=asked.ms)))
        summary = engine.close_session("slow")
        engine.close_session("calm")
    assert settings.tape is not None
    report = verify(settings.tape, KeyRing(settings.ca_dir.parent / "keys").trusted())
    with TapeReader.open(settings.tape) as tape:
        endings = Counter(one.ending for one in tape.exchanges("slow"))
    print(f"{dict(found)}; on the tape {dict(endings)}, findings {[one.code for one in report.findings]}")
    whole = found == Counter(whole=asked.streams) and endings == Counter(complete=asked.streams)
    return 0 if whole and not report.findings and not summary.voids else 1


if __name__ == "__main__":
    sys.exit(main())
