"""A run that a search asks for, and what came of it: plain values that another process can work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.explore.space import Call, Observation, Point
from faultwire.profile.load import dump, from_dump
from faultwire.trials.model import Pin, Tokens, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.explore.space import Faults
    from faultwire.profile.model import Profile


@dataclass(frozen=True, slots=True)
class Ask:
    """One run to make. `key` is what it is known by in its search; `ids` are the entries of `profile` that
    are its faults, and with `lineage` the bytes of its answers are followed."""

    key: str
    faults: Faults
    profile: Profile
    pins: frozenset[Pin]
    seed: int
    ids: Mapping[Point, str]
    lineage: bool = False

    @property
    def trial(self) -> Trial:
        """The run as a trial."""
        return Trial(self.pins, self.seed, self.profile)

    def as_json(self) -> dict[str, Any]:
        """As plain values; the same for the same run."""
        return {
            "key": self.key,
            "profile": dump(self.profile),
            "pins": sorted([pin.entry, pin.call] for pin in self.pins),
            "seed": self.seed,
            "ids": [[*_point(one), self.ids[one]] for one in sorted(self.faults)],
            "lineage": self.lineage,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ask:
        """Raises KeyError, TypeError or ValueError for anything else, and ProfileError."""
        ids = {
            Point(Call(str(place), int(n)), str(entry)): str(name) for place, n, entry, name in value["ids"]
        }
        return cls(
            str(value["key"]),
            frozenset(ids),
            from_dump(dict(value["profile"])),
            frozenset(Pin(str(entry), int(call)) for entry, call in value["pins"]),
            int(value["seed"]),
            ids,
            bool(value["lineage"]),
        )


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a run, and at which count of its entry each point stood in it."""

    run: Observation
    counts: Mapping[Point, int]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        run = self.run
        return {
            "failed": run.failed, "reason": run.reason, "unread": run.unread, "output": run.output,
            "seconds": round(run.seconds, 3), "cost_usd": run.cost_usd, "unpriced": run.unpriced,
            "tokens": run.tokens.count, "uncounted": run.tokens.uncounted,
            "calls": [[call.place, call.number, key] for call, key in run.calls],
            "fired": [_point(one) for one in sorted(run.fired)],
            "points": [[*_point(one), self.counts.get(one, 0)] for one in sorted(run.points)],
            "edges": [
                [a.place, a.number, b.place if b else None, b.number if b else 0]
                for a, b in sorted(run.edges, key=str)
            ],
        }  # fmt: skip

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Made:
        """Raises KeyError, TypeError or ValueError for anything else. One that names no tokens is of a start
        that did not count them: its usage is not known."""
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
            Tokens(int(line.get("tokens", 0)), int(line.get("uncounted", 1))),
        )
        return cls(run, counts)


def _point(point: Point) -> list[Any]:
    return [point.call.place, point.call.number, point.entry]
