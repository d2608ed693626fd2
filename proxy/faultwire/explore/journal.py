"""The state file of a search: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

import fcntl
import os
import threading
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.errors import UsageError
from faultwire.explore.space import Call, Observation, Point

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VERSION = 1
_HINT = "name another file with --state, or remove it"


class Journal:
    """An open state file; `earlier` are the runs that it held, by key, with the counts of their points."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. A last line that was cut off
        is dropped. Raises UsageError where it is another search's, is held, or is no state file."""
        self.path = path
        self.earlier: dict[str, tuple[Observation, dict[Point, int]]] = {}
        self._lock = threading.Lock()
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._hold()
            self._read(about)
        except BaseException:
            os.close(self._handle)
            raise

    def _hold(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"found `{self.path}` in use by another process, expected one search at a time",
                code="explore.state",
            ) from None

    def _read(self, about: str) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        os.ftruncate(self._handle, len(whole))
        os.lseek(self._handle, 0, os.SEEK_END)
        if not whole:
            self._write({"faultwire_explore": VERSION, "about": about})
            return
        first, *lines = whole.splitlines()
        try:
            head = orjson.loads(first)
            if head["faultwire_explore"] != VERSION:
                raise ValueError
            same = head["about"] == about
            self.earlier = dict(map(_kept, map(orjson.loads, lines)))
        except (ValueError, KeyError, TypeError):
            message = f"found `{self.path}`, which is not a state file of `explore`"
            raise UsageError(message, code="explore.state", hint=_HINT) from None
        if not same:
            raise UsageError(
                f"found the state of another search in `{self.path}`, expected one with the same faults, "
                "command, oracle and seed",
                code="explore.state",
                hint=_HINT,
            )

    def append(self, key: str, run: Observation, counts: Mapping[Point, int]) -> None:
        """Write down a run, and wait until it is on disk."""
        self._write({"key": key, **_as_json(run, counts)})

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)

    def _write(self, line: dict[str, Any]) -> None:
        with self._lock:
            os.write(self._handle, orjson.dumps(line) + b"\n")
            os.fsync(self._handle)


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
