"""`python -m tests.bench.recording [--json FILE]`: what recording one exchange costs, without a proxy.

CPU is of the whole process, writer thread included; the loop's share is that of the calls alone.
Commits come as under load: every 40 exchanges (JSON) or every stream.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson

from faultwire.events import Exchange, Headers, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

REQUEST: Headers = (
    ("host", "api.openai.com"),
    ("accept", "application/json"),
    ("authorization", "Bearer sk-proj-abcdefghijklmnopqrstuvwxyz012345"),
    ("content-type", "application/json"),
    ("user-agent", "OpenAI/Python 2.8.0"),
    ("x-stainless-lang", "python"),
    ("x-stainless-retry-count", "0"),
    ("accept-encoding", "identity"),
)
RESPONSE: Headers = (
    ("date", "Sat, 21 Nov 2026 12:00:00 GMT"),
    ("content-type", "application/json"),
    ("x-request-id", "req_0123456789abcdef"),
    ("set-cookie", "__cf_bm=abc; path=/; HttpOnly"),
    ("openai-processing-ms", "312"),
    ("x-ratelimit-remaining-tokens", "149984"),
    ("server", "cloudflare"),
    ("cf-ray", "8e6f0b1d0f5a9b1c-FRA"),
)
SSE: Headers = (("content-type", "text/event-stream; charset=utf-8"),)
WORDS = "the quick brown fox jumps over the lazy dog and then asks what it should do next "


class Figure(NamedTuple):
    name: str
    value: float
    unit: str
    goal: str


def chat(number: int, size: int) -> bytes:
    text = (WORDS * (size // len(WORDS) + 1))[: size - 110]
    message = {"role": "user", "content": f"{number} {text}"}
    return orjson.dumps({"model": "gpt-4o-mini", "messages": [message], "max_tokens": 100})


def event(number: int) -> bytes:
    delta = {"index": 0, "delta": {"content": WORDS.split()[number % 16] + " "}, "finish_reason": None}
    said = {
        "id": "chatcmpl-0123456789",
        "object": "chat.completion.chunk",
        "model": "gpt-4o-mini",
        "choices": [delta],
    }
    return b"data: " + orjson.dumps(said) + b"\n\n"


def exchange(writer: TapeWriter, number: int, size: int) -> float:
    """Record one; the seconds that the calls took."""
    body = chat(number, size // 2)
    answer = chat(-number, size // 2)
    began = time.thread_time()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", REQUEST, body)
    recording = writer.record(Exchange("s", number, request, "llm", "openai_chat", "openai"))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", RESPONSE))
    recording.upstream_chunk(answer)
    recording.end("complete")
    return time.thread_time() - began


def stream(writer: TapeWriter, number: int) -> float:
    chunks = [event(n) for n in range(200)]
    began = time.thread_time()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", REQUEST, b"{}")
    recording = writer.record(Exchange("s", number, request, "llm", "openai_chat", "openai"))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", SSE))
    for chunk in chunks:
        recording.upstream_chunk(chunk)
    recording.end("complete")
    return time.thread_time() - began


def measured(
    folder: Path, count: int, batch: int, one: Callable[[TapeWriter, int], float]
) -> tuple[float, float, float]:
    """(CPU ms, loop ms, exchanges per second), each per exchange; making the bodies is not counted."""
    path = folder / f"{time.monotonic_ns()}.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    loop = 0.0
    making = 0.0
    cpu, wall = time.process_time(), time.monotonic()
    for number in range(1, count + 1):
        began = time.thread_time()
        calls = one(writer, number)
        making += time.thread_time() - began - calls
        loop += calls
        if number % batch == 0:
            writer.flush()
    writer.flush()
    wall = time.monotonic() - wall - making
    cpu = time.process_time() - cpu - making
    writer.close()
    return cpu / count * 1e3, loop / count * 1e3, count / wall


def verified(folder: Path) -> float:
    """MB of bodies and records verified per second of CPU (one thread, so a quiet machine's second)."""
    path = folder / "verify.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    for number in range(1, 4000):
        exchange(writer, number, 20_000)
    writer.close()
    began = time.process_time()
    assert verify(path).ok
    return 3999 * 22_000 / 1e6 / (time.process_time() - began)


def blocked(folder: Path, seconds: float) -> float:
    """Milliseconds for which recording one exchange held its caller, 99.9th percentile, while commits of
    4 KB exchanges follow each other: what of the disk an event loop would feel."""
    writer = TapeWriter.create(folder / "blocked.tape", origin="p/t", settings={})
    held: list[float] = []
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        number += 1
        began = time.perf_counter()
        exchange(writer, number, 4096)
        held.append(time.perf_counter() - began)
        time.sleep(0.0005)
    writer.close()
    assert writer.failed is None
    return sorted(held)[int(len(held) * 0.999)] * 1e3


def opened(folder: Path, size: int) -> float:
    """Seconds until a tape of so many bytes that was not closed is open and has told what it holds."""
    path = folder / "large.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    for number in range(1, size // 1_000_000 + 1):
        request = Request("POST", "https", "h", 443, "/v1", REQUEST, None)
        recording = writer.record(Exchange("s", number, request, "llm"))
        recording.request(request)
        recording.upstream_head(Response(200, "OK", ()))
        recording.upstream_chunk(b"%d" % number + b" " + os.urandom(1_000_000))
        recording.end("complete")
        if number % 32 == 0:
            writer.flush()
    writer.flush()
    began = time.monotonic()
    with TapeReader.open(path) as reader:
        reader.info()
    took = time.monotonic() - began
    writer.close()
    return took


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as name:
        folder = Path(name)
        json_cpu, json_loop, _ = measured(folder, 4000, 40, lambda w, n: exchange(w, n, 2048))
        _, _, rate = measured(folder, 8000, 400, lambda w, n: exchange(w, n, 4096))
        sse_cpu, sse_loop, _ = measured(folder, 200, 1, stream)
        return [
            Figure("2 KB JSON exchange, CPU", json_cpu, "ms", "≤ 0.35"),
            Figure("2 KB JSON exchange, of it on the event loop", json_loop, "ms", ""),
            Figure("4 KB exchanges, commits of 400", rate, "/s", "≥ 4000"),
            Figure("SSE of 200 chunks, CPU with a commit of its own", sse_cpu, "ms", ""),
            Figure("SSE of 200 chunks, of it on the event loop", sse_loop, "ms", ""),
            Figure("verify", verified(folder), "MB/s", "≥ 200"),
            Figure("event loop held by recording, p99.9", blocked(folder, 10), "ms", "≤ 5"),
            Figure("opening a tape of 1 GB", opened(folder, 1_000_000_000), "s", "≤ 0.3"),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    figures = run()
    for figure in figures:
        print(f"{figure.name:52} {figure.value:10.3f} {figure.unit:5} {figure.goal}")
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    if given.json:
        given.json.write_text(
            json.dumps({"load": os.getloadavg(), "figures": [f._asdict() for f in figures]})
        )


if __name__ == "__main__":
    main()
