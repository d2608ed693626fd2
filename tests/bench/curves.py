"""How the cost of an exchange grows: with the size of bodies, connections, entries, and the conversation.

Every point is measured in turn with bare mitmdump (but the entries of a profile, which it has not), as CPU of
the proxy process for one exchange on connections that are kept. The slope is that of a line through the
medians of all points, by least squares.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from tests.bench import subjects
from tests.bench.children import cpu_s
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

from faultwire.mitm.engine.client import Engine

ROUNDS = {False: 5, True: 2}
BUSY_S = 1.5
"""CPU of one batch, about."""
SPARE_FDS = 4
"""File descriptors that a connection through a proxy may cost one process."""


@dataclass(frozen=True)
class Point:
    """`at` is its place on the curve; `profile` None: the armed one."""

    at: float
    name: str
    messages: int = 2
    size: int = 2048
    answer: int = 2048
    connections: int = 16
    profile: str | None = None
    pause_s: float = 0.0
    plain: bool = False


@dataclass(frozen=True)
class Curve:
    """`unit` is what one more of costs the slope; a `ratio` of the last point to the first may be bounded."""

    name: str
    title: str
    unit: str
    scale: float
    points: tuple[Point, ...]
    beside: bool = True


def _entries(count: int, *, matching: bool) -> str:
    if not count:
        return "faults: []\n"
    on = "{kind: llm}" if matching else "{host: api%d.example.com}"
    entry = f"  - status: {{code: 503}}\n    on: {on}\n    {subjects.NEVER}\n"
    return "faults:\n" + "".join(entry if matching else entry % number for number in range(count))


def _sized(size: int) -> str:
    for unit, name in ((10**6, "MB"), (1000, "kB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


COUNTS = (0, 10, 100, 500)
SIZES = (200, 2000, 20_000, 200_000, 1_000_000, 10_000_000)
CURVES = (
    Curve(
        "request", "body of the request", "MB", 1e6,
        tuple(Point(size, _sized(size), size=size, messages=1, connections=4) for size in SIZES),
    ),
    Curve(
        "answer", "body of the answer", "MB", 1e6,
        tuple(Point(size, _sized(size), answer=size, connections=4) for size in SIZES),
    ),
    Curve(
        "connections", "connections at once", "connection", 1,
        tuple(Point(number, str(number), connections=number) for number in (1, 16, 128, 1000, 2000)),
    ),
    Curve(
        "matching", "entries that match and wait", "entry", 1,
        tuple(Point(count, str(count), profile=_entries(count, matching=True)) for count in COUNTS),
        beside=False,
    ),
    Curve(
        "entries", "entries that do not match", "entry", 1,
        tuple(Point(count, str(count), profile=_entries(count, matching=False)) for count in COUNTS),
        beside=False,
    ),
    Curve(
        "talk", "messages of the conversation", "message", 1,
        tuple(Point(count, str(count), messages=count, size=0) for count in (1, 25, 100, 400)),
    ),
)  # fmt: skip
SERIAL = tuple(
    Point(pause, f"one after the other, pauses of {pause:g} ms, {how}", connections=1, pause_s=pause / 1000,
          plain=how == "plain")
    for how in ("TLS", "plain") for pause in (0, 50)
)  # fmt: skip
SERIAL_TARGET = 0.6


def run(rig: Rig, wanted: Iterable[str], *, quick: bool) -> list[Row]:
    """The curves that are wanted, by name; `serial` is one connection with pauses."""
    names = set(wanted)
    bare = rig.bare()
    rows: list[Row] = []
    for curve in CURVES:
        if curve.name in names:
            rows += _curve(rig, curve, bare, quick=quick)
    if "serial" in names:
        for point in SERIAL:
            rows += measured(rig, "serial", point, bare, quick=quick, target=SERIAL_TARGET, native=True)
    return rows


def _curve(rig: Rig, curve: Curve, bare: Subject, *, quick: bool) -> list[Row]:
    rows: list[Row] = []
    room = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SPARE_FDS
    points = [point for point in curve.points if point.connections <= room]
    for point in points:
        rows += measured(rig, curve.name, point, bare if curve.beside else None, quick=quick)
    for name in dict.fromkeys(row.subject for row in rows):
        values = [row.value or 0.0 for row in rows if row.subject == name]
        found = slope([point.at for point in points], values) * curve.scale
        title = f"{curve.title}: slope"
        rows.append(Row(curve.name, title, name, f"ms CPU/{curve.unit}", [found], more_is_better=False))
    return [_titled(row, curve.title) for row in rows]


def _titled(row: Row, title: str) -> Row:
    if not row.title.startswith(title):
        row.title = f"{title}: {row.title}"
    return row


def measured(
    rig: Rig,
    measure: str,
    point: Point,
    bare: Subject | None,
    *,
    quick: bool,
    target: float | None = None,
    native: bool = False,
) -> list[Row]:
    """One point, faultwire's value over mitmdump's of the same round; `native`: on mitmproxy's layers and on
    the native path, which must have served every tunnel."""
    name = f"curve-{measure}-{point.name}".replace(" ", "-").replace(",", "")
    profile = point.profile or subjects.ARMED
    with ExitStack() as engines:
        path = {"native": False} if native else {}
        plain = engines.enter_context(Engine.start(subjects.settings(rig.folder / name, rig.keys, **path)))
        found = [subjects.opened(plain, "bench", profile, rig.port)]
        if native:
            settings = subjects.settings(rig.folder / f"{name}-native", rig.keys, native=True)
            engine = engines.enter_context(Engine.start(settings))
            found.append(subjects.opened(engine, "bench", profile, rig.port, "faultwire-native"))
        rows = _in_turn(rig, measure, point, found, bare, quick, target)
        if native:
            stats = engine.stats()
            if not stats["native_plain" if point.plain else "native"] or stats["native_declined"]:
                raise RuntimeError(f"{point.name} was not served natively: {stats['native_declined']}")
    return rows


def _in_turn(
    rig: Rig,
    measure: str,
    point: Point,
    ours: list[Subject],
    bare: Subject | None,
    quick: bool,
    target: float | None,
) -> list[Row]:
    found = ours if bare is None else [*ours, bare]
    rows = {one.name: Row(measure, point.name, one.name, "ms CPU", more_is_better=False) for one in found}
    count = {one.name: fitting(rig, one, point) for one in found}
    for number in range(ROUNDS[quick]):
        for one in found if number % 2 else found[::-1]:
            rows[one.name].rounds.append(cost(rig, one, point, count[one.name]))
    for one in ours if bare is not None else ():
        mine, theirs = rows[one.name], rows[bare.name].rounds
        mine.baseline, mine.target = bare.name, target
        mine.ratios = [a / b for a, b in zip(mine.rounds, theirs, strict=True)]
    return list(rows.values())


def fitting(rig: Rig, one: Subject, point: Point) -> int:
    """As many exchanges as keep the proxy busy for a while; those that this takes warm it."""
    least = max(point.connections, 4)
    took = cost(rig, one, point, least) / 1000
    most = 4000 if not point.pause_s else 100
    return max(least, min(most, int(BUSY_S / max(took, 1e-4))))


def cost(rig: Rig, one: Subject, point: Point, count: int) -> float:
    """Milliseconds of the proxy's CPU for each of so many exchanges, recorded and committed."""
    if one.pid is None:
        raise RuntimeError(f"{one.name} has no process to read the CPU of")
    port = rig.plain_port if point.plain else rig.port
    job = one.job(
        count=count,
        connections=point.connections,
        warm=True,
        kinds=["shaped"],
        shape={"messages": point.messages, "size": point.size, "answer": point.answer},
        pause_s=point.pause_s,
        cpu_of=one.pid,
    )
    job["target"] |= {"plain": point.plain, "port": port}
    outcome = rig.load.ask(job)
    if outcome["failed"]:
        raise RuntimeError(f"{point.name} through {one.name}: {outcome['errors']}")
    one.settle()
    return (cpu_s(one.pid) - float(outcome["cpu_s"])) / count * 1000


def slope(places: Sequence[float], values: Sequence[float]) -> float:
    """Of the line through the points, by least squares."""
    x, y = sum(places) / len(places), sum(values) / len(values)
    spread = sum((at - x) ** 2 for at in places)
    return sum((at - x) * (value - y) for at, value in zip(places, values, strict=True)) / spread


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Median, and an interval that holds it in at least 95 of 100 runs, from six rounds on: order statistics,
    whatever the distribution. Source: Conover, Practical Nonparametric Statistics, 3.2."""
    found = sorted(ratios)
    size, drop, below, weight = len(found), 0, 0.0, 0.5 ** len(found)
    for number in range(size // 2):
        below += weight
        if below > 0.025:
            break
        drop = number
        weight = weight * (size - number) / (number + 1)
    return median(found), found[drop], found[size - 1 - drop]
