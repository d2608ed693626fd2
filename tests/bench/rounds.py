"""One measure, taken of every subject in turn, round after round: A B C A B C …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tests.bench.children import Child, cpu_s
from tests.bench.subjects import Subject


@dataclass(frozen=True)
class Measure:
    """What to do and what to read off: `per_cpu` exchanges per CPU-second of the proxy, else `first`,
    the median time to a stream's first event in ms, on connections that have carried an exchange (mitmdump
    connects upstream before it is asked anything, we when we are)."""

    name: str
    title: str
    kind: str
    count: int
    connections: int
    fresh: bool = False
    reads: str = "per_cpu"
    baseline: str = "mitmdump"
    target: float = 1.0

    @property
    def unit(self) -> str:
        return "per CPU-s" if self.reads == "per_cpu" else "ms"

    @property
    def more_is_better(self) -> bool:
        return self.reads == "per_cpu"


@dataclass
class Row:
    """What one subject did in one measure. `rounds` are values in `unit`, `rates` exchanges per second
    of wall time, `ratios` values over the baseline's of the same round."""

    measure: str
    title: str
    subject: str
    unit: str
    rounds: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    baseline: str | None = None
    target: float | None = None
    more_is_better: bool = True
    note: str = ""
    failed: int = 0

    @property
    def value(self) -> float | None:
        return median(self.rounds) if self.rounds else None

    @property
    def ratio(self) -> float | None:
        return median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool | None:
        """Does the median hold the target? None where there is none."""
        found = self.ratio if self.baseline else self.value
        if self.target is None or found is None:
            return None
        return found >= self.target if self.more_is_better else found <= self.target

    def dump(self) -> dict[str, Any]:
        return {**self.__dict__, "median": self.value, "ratio": self.ratio, "met": self.met}


OURS = ("faultwire", "faultwire-idle")


def run(measure: Measure, subjects: Sequence[Subject], load: Child, rounds: int) -> list[Row]:
    """Measure all subjects `rounds` times in turn, after one batch each that is not counted."""
    rows = {s.name: _row(measure, s) for s in subjects}
    for subject in subjects:
        _batch(measure, subject, load, measure.count)
    for _ in range(rounds):
        for subject in subjects:
            _note(rows[subject.name], _batch(measure, subject, load, measure.count))
    base = rows.get(measure.baseline)
    for row in rows.values():
        if base and row.rounds:
            row.ratios = [mine / theirs for mine, theirs in zip(row.rounds, base.rounds, strict=True)]
        if row.failed:
            row.note = f"{row.note}, {row.failed} of {measure.count * rounds} failed".lstrip(", ")
    return list(rows.values())


def _row(measure: Measure, subject: Subject) -> Row:
    ours = subject.name in OURS
    return Row(
        measure.name,
        measure.title,
        subject.name,
        measure.unit,
        baseline=measure.baseline,
        target=measure.target if ours else None,
        more_is_better=measure.more_is_better,
        note=subject.note,
    )


@dataclass(frozen=True)
class _Batch:
    """One run: its value (None where there is no proxy to read CPU of) and exchanges per second."""

    value: float | None
    rate: float
    failed: int


def _note(row: Row, batch: _Batch) -> None:
    row.rates.append(batch.rate)
    row.failed += batch.failed
    if batch.value is not None:
        row.rounds.append(batch.value)


def _batch(measure: Measure, subject: Subject, load: Child, count: int) -> _Batch:
    before = cpu_s(subject.pid) if subject.pid else 0.0
    job = subject.job(
        count=count,
        connections=measure.connections,
        fresh=measure.fresh,
        warm=measure.reads == "first",
        kinds=[measure.kind],
        retry=subject.may_fail,
    )
    outcome = load.ask(job)
    done, failed = outcome["done"], outcome["failed"]
    if done == 0 or (failed and not subject.may_fail):
        raise RuntimeError(f"{measure.name} through {subject.name}: {failed} failed: {outcome['errors']}")
    subject.settle()
    value = None
    if measure.reads == "first":
        value = median(outcome["first_s"]) * 1000
    elif subject.pid is not None:
        value = done / max(cpu_s(subject.pid) - before, 0.005)
    return _Batch(value, done / outcome["wall_s"], failed)
