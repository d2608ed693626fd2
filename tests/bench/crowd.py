"""How long others wait while a thousand streams drip: the engine on one CPU, everybody else on the rest."""

from __future__ import annotations

import json
import os
import time
from statistics import median

from tests.bench import subjects
from tests.bench.children import Child, pin
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import ARMED, Subject

from faultwire.mitm.engine.client import Engine

SLOW = """
name: slow
description: Every event of a stream comes a second after the one before.
faults:
  - slow_tokens: {ms: 1000}
    on: {kind: llm}
"""
BATCH = 300
BATCHES = 5
TARGET_MS = 50.0
OPEN_S = 240.0


def run(rig: Rig, streams: int) -> list[Row]:
    """What the crowd adds to the 99th percentile of exchanges that nothing is done to, in ms; all are made
    one after the other on one kept connection."""
    asker, crowd = rig.load, rig.child("load")
    settings = subjects.settings(rig.folder / "crowd", rig.keys, max_exchanges=streams + 64)
    with Engine.start(settings) as engine:
        _part(engine.pid, [rig.upstream, asker, crowd])
        calm = subjects.opened(engine, "calm", ARMED, rig.port)
        slow = subjects.opened(engine, "slow", SLOW, rig.port)
        _tails(asker, calm, 1)
        alone = _tails(asker, calm, BATCHES)
        crowd.send(json.dumps(slow.job(count=streams, connections=streams, kinds=["burst"])))
        _wait_for(engine, streams)
        beside = _tails(asker, calm, BATCHES)
        held = int(engine.stats()["live"])
        engine.stop(at_once=True)
    crowd.receive(OPEN_S)
    return _rows(streams, held, alone, beside)


def _part(engine: int, others: list[Child]) -> None:
    """One CPU for the engine, the rest for everybody else, where there is more than one."""
    cpus = sorted(os.sched_getaffinity(0))
    pin(engine, {cpus[0]})
    for child in others:
        pin(child.pid, set(cpus[1:] or cpus))


def _tails(asker: Child, subject: Subject, batches: int) -> list[tuple[float, float]]:
    """Median and 99th percentile of each batch, in ms."""
    found = []
    for _ in range(batches):
        outcome = asker.ask(subject.job(count=BATCH, kinds=["json"]))
        if outcome["failed"]:
            raise RuntimeError(f"crowd: {outcome['errors']}")
        took = sorted(1000 * seconds for seconds in outcome["took_s"])
        found.append((median(took), took[int(len(took) * 0.99) - 1]))
    return found


def _wait_for(engine: Engine, streams: int) -> None:
    deadline = time.monotonic() + OPEN_S
    while engine.stats()["live"] < streams:
        if time.monotonic() > deadline:
            raise TimeoutError(f"crowd: {engine.stats()['live']} of {streams} streams are open")
        time.sleep(0.2)


def _rows(
    streams: int, held: int, alone: list[tuple[float, float]], beside: list[tuple[float, float]]
) -> list[Row]:
    title = f"a request beside {streams} streams that drip, one CPU"
    rows = []
    for name, at, target in (("median", 0, None), ("99th percentile", 1, TARGET_MS)):
        before = median(batch[at] for batch in alone)
        rows.append(
            Row(
                "crowd",
                f"{title}: added {name}",
                "faultwire",
                "ms",
                rounds=[batch[at] - before for batch in beside],
                target=target,
                more_is_better=False,
                note=f"{before:.1f} ms alone; {held} streams were open at the end",
            )
        )
    return rows
