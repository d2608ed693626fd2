"""Resident memory of the engine while it records JSON, streams and WebSockets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import linear_regression

from tests.bench.children import Child, resident_mb
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

KINDS = ["json"] * 13 + ["sse"] * 6 + ["socket"]
WARMING = ["json", "sse", "socket"]
"""What an engine is warmed up with, for a fifth of the exchanges: caches fill, arenas grow. A WebSocket
takes a connection of its own, and memory for connections is what settles last."""
STEPS = 20
ENOUGH = 20_000
TARGET = 1.0


def run(subject: Subject, load: Child, chatter: Child, exchanges: int) -> list[Row]:
    """The slope over `exchanges`, in MB per 10,000, while one WebSocket stays open all the time.

    Below `ENOUGH` of them it is not held against the target: what is left of warming up outweighs it.
    """
    if subject.pid is None:
        raise ValueError("direct has no memory of its own")
    load.ask(subject.job(count=exchanges // 5, connections=8, kinds=WARMING))
    subject.settle()
    step = exchanges // STEPS
    spoken = subject.job(count=1, kinds=["socket"], messages=exchanges // 2)
    chatter.send(json.dumps(spoken))
    seen = [(0, resident_mb(subject.pid))]
    for n in range(1, STEPS + 1):
        outcome = load.ask(subject.job(count=step, connections=8, kinds=KINDS))
        if outcome["failed"]:
            raise RuntimeError(f"memory through {subject.name}: {outcome['errors']}")
        subject.settle()
        seen.append((n * step, resident_mb(subject.pid)))
    spoken_outcome = chatter.receive(600)
    if spoken_outcome["failed"]:
        raise RuntimeError(f"memory through {subject.name}: {spoken_outcome['errors']}")
    return [_slope(subject.name, seen, TARGET if exchanges >= ENOUGH else None)]


def _slope(name: str, seen: Sequence[tuple[int, float]], target: float | None) -> Row:
    slope = linear_regression([n for n, _ in seen], [mb for _, mb in seen]).slope * 10_000
    text = "; ".join(f"{mb:.1f} MB after {n}" for n, mb in (seen[0], seen[STEPS // 2], seen[-1]))
    return Row(
        "memory",
        "resident memory: JSON, SSE, WebSocket",
        name,
        "MB per 10,000",
        rounds=[slope],
        target=target,
        more_is_better=False,
        note=text,
    )
