"""What recording costs an engine: the same traffic in turn with a tape and without, CPU against CPU."""

from __future__ import annotations

from tests.bench import subjects
from tests.bench.children import cpu_s
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

from faultwire.mitm.engine.client import Engine

COUNT = {False: 1500, True: 300}
CONNECTIONS = 16
ROUNDS = {False: 8, True: 3}


def run(rig: Rig, *, quick: bool) -> list[Row]:
    """2 KB JSON on kept connections, under a profile whose faults match and wait, and one that does not."""
    return [
        row(rig, name, profile, quick=quick)
        for name, profile in (("faultwire", subjects.ARMED), ("faultwire-idle", subjects.IDLE))
    ]


def row(rig: Rig, name: str, profile: str, *, quick: bool) -> Row:
    """One profile; the ratio is taken inside each round."""
    taped, bare = (opened(rig, f"{name}{how}", profile, tape=how == "-taped") for how in ("-taped", "-bare"))
    found = Row(
        "taped",
        "2 KB JSON, 16 kept connections: CPU with a tape, over without",
        name,
        "ms CPU",
        baseline="the same without a tape",
        target=1.1,
        more_is_better=False,
    )
    for one in (taped, bare):
        cost(rig, one, COUNT[quick])
    for number in range(ROUNDS[quick]):
        first, second = (taped, bare) if number % 2 else (bare, taped)
        ms = {one.name: cost(rig, one, COUNT[quick]) for one in (first, second)}
        found.rounds.append(ms[taped.name])
        found.ratios.append(ms[taped.name] / ms[bare.name])
    return found


def opened(rig: Rig, name: str, profile: str, *, tape: bool) -> Subject:
    settings = subjects.settings(rig.folder / name, rig.keys)
    engine = rig.enter_context(Engine.start(settings if tape else settings.model_copy(update={"tape": None})))
    return subjects.opened(engine, "bench", profile, rig.port, name)


def cost(rig: Rig, one: Subject, count: int) -> float:
    """Milliseconds of the engine's CPU for each exchange, the tape committed."""
    before = cpu_s(one.pid)
    rig.load.ask(one.job(count=count, connections=CONNECTIONS, kinds=["json"]), seconds=120)
    one.settle()
    return (cpu_s(one.pid) - before) / count * 1000
