"""A load of many sessions at a steady rate, as a child process: each line of input is a job. The first line
of its output says that all connections are open, the second what came of it. A session that is behind asks
at once."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Coroutine
from typing import Any

from tests.bench.client import Connection, Target
from tests.bench.load import question, request, trust

BODY_BYTES = 400


async def paced(given: dict[str, Any]) -> dict[str, Any]:
    """`targets`, one session each; `rate` exchanges per second of all of them together, for `seconds`."""
    targets = [Target(**one) for one in given["targets"]]
    context = trust(targets[0].ca)
    gap, seconds = len(targets) / given["rate"], given["seconds"]
    took: list[float] = []
    connections = [await Connection.open(target, context) for target in targets]
    print(json.dumps({"open": len(connections)}), flush=True)
    began = time.monotonic() + 0.5

    async def one(at: int, connection: Connection) -> None:
        due = began + gap * at / len(targets)
        number = at
        while due < began + seconds and time.monotonic() < began + seconds:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            asked = time.monotonic()
            body = question(number, size=BODY_BYTES)
            await connection.exchange(request("/v1/chat/completions", f"n={number}", body))
            took.append(time.monotonic() - asked)
            due, number = due + gap, number + len(targets)

    await asyncio.gather(*(one(at, connection) for at, connection in enumerate(connections)))
    wall = time.monotonic() - began
    for connection in connections:
        connection.close()
    took.sort()
    half, most = took[len(took) // 2], took[int(len(took) * 0.99) - 1]
    return {"done": len(took), "wall_s": wall, "median_ms": 1000 * half, "p99_ms": 1000 * most}


async def main() -> None:
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    print(json.dumps({"ready": True}), flush=True)
    while line := await stdin.readline():
        running: Coroutine[Any, Any, dict[str, Any]] = paced(json.loads(line))
        print(json.dumps(await running), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
