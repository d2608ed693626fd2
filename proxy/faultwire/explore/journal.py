"""The state file of a search: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.explore.space import Call, Observation, Point
from faultwire.trials.state_file import StateFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Journal:
    """An open state file; `earlier` are the runs that it held, by key, with the counts of their points."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. Raises UsageError where it is
        another search's, is held, or is no state file."""
        self.path = path
        self._file = StateFile(path, "explore", about, "faults, command, oracle and seed")
        try:
            self.earlier = dict(map(_kept, self._file.earlier))
        except (ValueError, KeyError, TypeError):
            self._file.close()
            raise self._file.unreadable() from None

    def append(self, key: str, run: Observation, counts: Mapping[Point, int]) -> None:
        """Write down a run, and wait until it is on disk."""
        self._file.append({"key": key, **_as_json(run, counts)})

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def _as_json(run: Observation, counts: Mapping[Point, int]) -> dict[str, Any]:
    return {
        "failed": run.failed, "reason": run.reason, "unread": run.unread, "output": run.output,
        "seconds": round(run.seconds, 3), "cost_usd": run.cost_usd,
        "unpriced": run.unpriced,
        "calls": [[call.place, call.number, key] for call, key in run.calls],
        "fired": [_point(one) for one in sorted(run.fired)],
        "points": [[*_point(one), counts.get(one, 0)] for one in sorted(run.points)],
        "edges": [
            [a.place, a.number, b.place if b else None, b.number if b else 0]
            for a, b in sorted(run.edges, key=str)
        ],
    }  # fmt: skip


def _point(point: Point) -> list[Any]:
    return [point.call.place, point.call.number, point.entry]


def _kept(line: dict[str, Any]) -> tuple[str, tuple[Observation, dict[Point, int]]]:
    if line["failed"] not in (True, False, None):
        raise ValueError
    counts = {Point(Call(place, number), entry): count for place, number, entry, count in line["points"]}
    run = Observation(
        line["failed"],
        str(line["reason"]),
        tuple((Call(place, number), key) for place, number, key in line["calls"]),
        frozenset(Point(Call(place, number), entry) for place, number, entry in line["fired"]),
        frozenset(counts),
        frozenset((Call(a, n), Call(b, m) if b is not None else None) for a, n, b, m in line["edges"]),
        bool(line["unread"]),
        float(line["seconds"]),
        float(line["cost_usd"]),
        str(line["output"]),
        int(line.get("unpriced", 0)),
    )
    return str(line["key"]), (run, counts)
