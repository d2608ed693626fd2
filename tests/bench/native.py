"""What the native path takes of an exchange: the same traffic in turn through bare mitmdump, through
faultwire on mitmproxy's own layers, and through faultwire on the native path; CPU against CPU.

Every engine records. The native ones must have served each tunnel themselves, else there is no figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench import subjects
from tests.bench.children import cpu_s
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

from faultwire.mitm.engine.client import Engine

CALM = "name: calm\ndescription: Nothing can happen.\nfaults: []\n"
PROFILES = {"armed": subjects.ARMED, "idle": subjects.IDLE, "calm": CALM}


@dataclass(frozen=True)
class Load:
    """What is asked of every proxy, and what the native path should do of it, over mitmdump."""

    name: str
    title: str
    kind: str
    count: int
    connections: int
    targets: dict[str, float]
    fresh: bool = False


LOADS = (
    Load("keepalive", "2 KB JSON, 16 kept connections", "json", 1500, 16, {"armed": 3.5, "idle": 7.0}),
    Load("connect", "2 KB JSON, a new TLS connection each", "json", 200, 8, {"armed": 3.0}, fresh=True),
    Load("sse", "SSE, 200 events at once", "burst", 160, 16, {"armed": 4.0}),
)
ROUNDS = {False: 7, True: 3}
SHRINK = 5


def run(rig: Rig, bare: Subject, streaming: Subject, *, quick: bool) -> Iterator[Row]:
    """Every load; `bare` is mitmdump, `streaming` the same for streams."""
    ours = {(name, native): opened(rig, name, native=native) for name in PROFILES for native in (False, True)}
    for load in LOADS:
        baseline = streaming if load.kind == "burst" else bare
        yield from rows(rig, load, baseline, ours, quick=quick)
    for (name, native), (engine, _) in ours.items():
        stats = engine.stats()
        if native and (not stats["native"] or stats["native_declined"]):
            raise RuntimeError(f"`{name}` was not served natively: {stats['native_declined']}")


def opened(rig: Rig, name: str, *, native: bool) -> tuple[Engine, Subject]:
    label = f"{name}{'-native' if native else ''}"
    settings = subjects.settings(rig.folder / f"path-{label}", rig.keys, native=native)
    engine = rig.enter_context(Engine.start(settings))
    return engine, subjects.opened(engine, "bench", PROFILES[name], rig.port, label)


def rows(
    rig: Rig,
    load: Load,
    baseline: Subject,
    ours: dict[tuple[str, bool], tuple[Engine, Subject]],
    *,
    quick: bool,
) -> Iterator[Row]:
    count = load.count // (SHRINK if quick else 1)
    found = {
        key: Row(
            f"native {load.name}",
            f"{load.title}, recording",
            subject.name,
            "per CPU-s",
            baseline=baseline.name,
            target=load.targets.get(key[0]) if key[1] else None,
        )
        for key, (_, subject) in ours.items()
    }
    for number in range(-1, ROUNDS[quick]):
        base = per_cpu(rig, baseline, load, count)
        for key, (_, subject) in ours.items():
            rate = per_cpu(rig, subject, load, count)
            if number >= 0:  # the first round is not counted
                found[key].rounds.append(rate)
                found[key].ratios.append(rate / base)
    yield from found.values()


def per_cpu(rig: Rig, one: Subject, load: Load, count: int) -> float:
    """Exchanges for a second of the proxy's CPU, the tape committed."""
    before = cpu_s(one.pid)
    job = one.job(count=count, connections=load.connections, kinds=[load.kind], fresh=load.fresh)
    rig.load.ask(job, seconds=240)
    one.settle()
    return count / (cpu_s(one.pid) - before)
