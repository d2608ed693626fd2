"""What a team's service takes: `python -m tests.bench.team_service [--seconds S] [--rates 10,100,1000]`.

Memory and processor time of `faultwire serve` at rates of requests, open loop, from a process of their own:
of ten, seven read a run as JSON, two open a run's page, one pushes a run of 30 cells. Bytes of the database
for 1,000 cells, in small and in large runs, and of the place for tapes for 1,000 exchanges of a real agent.
SQLite, and PostgreSQL where its server is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import sqlalchemy as sa
from tests.bench.team_dashboards import databases
from tests.e2e.service.conftest import FAULTWIRE, Service, serving, token
from tests.unit.service.conftest import pushed

from faultwire.store.database import open_engine

CONNECTIONS = 32
KINDS = ("read", "read", "read", "read", "page", "read", "read", "page", "read", "push")
MADE = 250
"""Exchanges that are made of the 1,000."""
AGENT = f"""import json, urllib.request
for number in range({MADE}):
    words = f"Question {{number}}: " + "why? " * 200
    body = {{"model": "gpt-4o-mini", "messages": [{{"role": "user", "content": words}}]}}
    head = {{"content-type": "application/json", "authorization": "Bearer sk-none"}}
    url = "https://api.openai.com/v1/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head), timeout=60).read()
"""
PATIENCE = 3
"""A rate that is not reached is given up after so many times its seconds."""


@dataclass
class Load:
    """Requests at a rate: how long each took from when it was due, and what was answered."""

    seconds: list[float] = field(default_factory=list)
    bad: int = 0
    took: float = 0.0


def request(kind: str, number: int, host: str, word: str) -> bytes:
    """One request's bytes."""
    body = b""
    path, method = "/api/projects/shop/runs/r0", "GET"
    if kind == "page":
        path = "/projects/shop/runs/r0"
    if kind == "push":
        run = pushed(f"b{number}-{time.monotonic_ns()}")
        path, method, body = "/api/projects/shop/runs", "POST", json.dumps(run).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {word}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answered(reader: asyncio.StreamReader) -> int:
    """The status of an answer that is read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(
        int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")
    )
    await reader.readexactly(length)
    return int(head.split()[1])


async def driven(url: str, word: str, rate: float, seconds: float) -> Load:
    """Ask at a rate. A request that is due while all connections wait is late, which counts."""
    place = urlsplit(url)
    found, due = Load(), asyncio.Queue[tuple[float, int]]()
    began = time.monotonic()
    for number in range(int(rate * seconds)):
        due.put_nowait((began + number / rate, number))

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while not due.empty() and time.monotonic() < began + PATIENCE * seconds:
            when, number = due.get_nowait()
            await asyncio.sleep(max(0.0, when - time.monotonic()))
            writer.write(request(KINDS[number % len(KINDS)], number, place.netloc, word))
            status = await answered(reader)
            found.seconds.append(time.monotonic() - when)
            found.bad += status >= 400
        writer.close()

    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    found.took = time.monotonic() - began
    return found


def at_rate(service: Service, word: str, rate: float, seconds: float) -> str:
    """A row of the table."""
    process = psutil.Process(service.process.pid)
    before = process.cpu_times()
    words = [
        sys.executable,
        "-m",
        "tests.bench.team_service",
        "--drive",
        service.url,
        word,
        str(rate),
        str(seconds),
    ]
    done = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    after = process.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    times = sorted(done["seconds"])
    reached = len(times) / done["took"]
    return (
        f"| {rate:g} | {reached:.0f} | {1000 * times[len(times) // 2]:.0f} ms | "
        f"{1000 * times[int(0.99 * len(times))]:.0f} ms | {done['bad']} | {1000 * cpu / len(times):.1f} ms | "
        f"{process.memory_info().rss / 1e6:.0f} MB |"
    )


def size(url: str) -> int:
    """Bytes of a database."""
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(path).stat().st_size
    engine = open_engine(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("VACUUM"))
        found = int(connection.scalar(sa.text("SELECT pg_database_size(current_database())")) or 0)
    engine.dispose()
    return found


def cells(url: str, runs: int, each: int) -> str:
    """Bytes of the database for 1,000 cells, reports included."""
    from faultwire.service.acts import Acts
    from faultwire.service.settings import Settings

    engine = open_engine(url)
    acts, before = Acts(engine, Settings()), size(url)
    for number in range(runs):
        acts.take("sized", pushed(f"s{each}-{number}", each // 2, each), "bench")
    engine.dispose()
    return f"1,000 cells in runs of {each}: {(size(url) - before) / (runs * each) * 1000 / 1000:.0f} KB"


def exchanges(folder: Path) -> str:
    """Bytes for 1,000 exchanges of an agent: on its tape, and in the place for tapes."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "tapes").mkdir()
    words = [FAULTWIRE, "exec", "--mock", "--", sys.executable, "-S", "agent.py"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    subprocess.run(
        [FAULTWIRE, "push", "last", "--tapes", "tapes"], cwd=folder, check=True, capture_output=True
    )
    (tape,) = folder.glob(".faultwire/runs/*/*.tape")
    kept = sum(path.stat().st_size for path in (folder / "tapes").rglob("*") if path.is_file())
    on_tape, there = (size / MADE for size in (tape.stat().st_size, kept))
    return f"1,000 exchanges: tape {on_tape:.0f} KB, in the place for tapes {there:.0f} KB"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rates", default="10,100,1000")
    parser.add_argument("--drive", nargs=4)
    given = parser.parse_args(arguments)
    if given.drive is not None:
        url, word, rate, seconds = given.drive
        found = asyncio.run(driven(url, word, float(rate), float(seconds)))
        print(json.dumps({"seconds": found.seconds, "bad": found.bad, "took": found.took}))
        return
    with tempfile.TemporaryDirectory() as name, databases() as each:
        folder = Path(name)
        print(f"{psutil.cpu_count()} CPUs, load {psutil.getloadavg()[0]:.1f}")
        for kind, store in each:
            (folder / kind).mkdir()
            word = token(folder, store, "runner")
            print(f"{kind}\n| asked | reached | median | p99 | refused | processor a request | memory |")
            with serving(folder / kind, store) as service:
                assert service.ask("POST", "/api/projects/shop/runs", word, pushed("r0"))[0] == 201
                for rate in map(float, given.rates.split(",")):
                    print(at_rate(service, word, rate, given.seconds), flush=True)
            for runs, size_ in ((40, 30), (10, 1000)):
                print(cells(store, runs, size_), flush=True)
        print(exchanges(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
