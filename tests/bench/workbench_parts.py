"""What following a tape costs its writer and the workbench, without engine and browser:
`python -m tests.bench.workbench_parts`.

A process writes 500 exchanges a second; another follows them as the workbench does, in one of several ways,
in turns. Prints the CPU of both for an exchange, what is sent, and the ratios to nobody following.
CPU time is compared, since the wall clock of a machine that others use says little.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from tests.unit.workbench.conftest import asked, deck_at

from faultwire.workbench import index as tested
from faultwire.workbench.index import TapeIndex
from faultwire.workbench.live import BUSY_PACE_S, PACE_S

RATE = 500
Send = Callable[[TapeIndex, int], tuple[int, Any]]


def all_rows(index: TapeIndex, after: int) -> tuple[int, Any]:
    """Every row that changed."""
    reached, rows = index.since(after, 1_000)
    return reached, rows


def in_sight(index: TapeIndex, after: int) -> tuple[int, Any]:
    """The rows at the end of the list, and sums."""
    news = index.news(after, 100)
    return news["revision"], news


WAYS: dict[str, tuple[Send, float, int] | None] = {
    "nobody": None,
    "every row at once, the writer urged": (all_rows, 0.0, 10**9),
    "rows in sight, paced, the writer urged": (in_sight, PACE_S, 10**9),
    "rows in sight, paced, the writer at its own pace": (in_sight, BUSY_PACE_S, tested.BUSY),
}
"""How the page is fed: what is sent, the seconds between two events, and from how many exchanges a second on
the writer is left alone."""


def follow(path: Path, way: str, urged: Connection, told: Connection) -> None:
    """The workbench's side, in a process of its own."""
    found = WAYS[way]
    assert found is not None
    send, pace_s, tested.BUSY = found
    changed = threading.Event()

    def urge() -> None:
        urged.send(None)
        urged.recv()

    index = TapeIndex(path, urge)
    index.listen(changed.set)
    index.start()
    told.send("ready")
    began, after, sent = time.process_time(), 0, 0
    count = None
    while count is None or index.totals.read < count or after < index.revision:
        count = told.recv() if count is None and told.poll() else count
        changed.wait(0.1)
        changed.clear()
        after, value = send(index, after)
        sent += len(json.dumps(value))
        time.sleep(pace_s)
    told.send((time.process_time() - began, sent))
    os._exit(0)


def turn(folder: Path, way: str, count: int) -> dict[str, float]:
    """One turn: `count` exchanges written at the rate."""
    deck = deck_at(folder / f"{time.monotonic_ns()}.tape")
    urges = 0
    urged, other = multiprocessing.Pipe()
    told, there = multiprocessing.Pipe()

    def answer() -> None:
        nonlocal urges
        while True:
            try:
                urged.recv()
                deck.writer.flush()
                urged.send(None)
            except (EOFError, OSError):
                return
            urges += 1

    child = None
    if WAYS[way] is not None:
        child = multiprocessing.get_context("spawn").Process(
            target=follow, args=(deck.path, way, other, there)
        )
        child.start()
        told.recv()
        threading.Thread(target=answer, daemon=True).start()
    began, cpu = time.monotonic(), time.process_time()
    for number in range(count):
        deck.exchange(asked(f"number {number}"), flush=False)
        time.sleep(max(0.0, began + number / RATE - time.monotonic()))
    deck.writer.flush()
    wall, used, asked_for = time.monotonic() - began, time.process_time() - cpu, urges
    cost = sent = 0.0
    if child is not None:
        told.send(count)
        cost, sent = told.recv()
        child.join()
    deck.writer.close()
    return {
        "writer_ms": 1000 * used / count, "workbench_ms": 1000 * cost / count, "bytes": sent / count,
        "urges_s": asked_for / wall, "rate": count / wall,
    }  # fmt: skip


def main() -> None:
    """Print the medians of each way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=1_500)
    given = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        turn(Path(folder), "nobody", 200)  # what is imported late
        for _ in range(given.rounds):
            for way in WAYS:
                found[way].append(turn(Path(folder), way, given.count))
                print(way, {name: round(one, 3) for name, one in found[way][-1].items()}, flush=True)
    for way, turns in found.items():
        ratios = [
            one["writer_ms"] / free["writer_ms"] for one, free in zip(turns, found["nobody"], strict=True)
        ]
        middle = {name: median(one[name] for one in turns) for name in turns[0]}
        print(
            f"{way}: writer {middle['writer_ms']:.3f} ms (× {median(ratios):.2f}, {min(ratios):.2f} to "
            f"{max(ratios):.2f}), workbench {middle['workbench_ms']:.3f} ms, {middle['bytes']:.0f} bytes "
            f"sent, {middle['urges_s']:.1f} urges/s, at {middle['rate']:.0f}/s"
        )
    print(f"load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
