"""Two runs of one seed, compared: the first call in which they differ, and what differs there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Literal

from faultwire.replay.compare import compare
from faultwire.replay.mask import Masks
from faultwire.replay.match import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Recorded
    from faultwire.replay.cause import Cause
    from faultwire.replay.explain_miss import Divergence

What = Literal["request", "answer", "order", "missing", "faults", "exit code"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its exchanges in order, and the exit code of the command."""

    exchanges: tuple[Recorded, ...]
    code: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place in which two runs differ. `same` calls came before it; `call` is the number of the
    exchange in the second run, 0 where it has none; `field` is where in it, empty where that is all of it."""

    what: What
    same: int
    call: int
    field: str
    reason: str
    shape: Cause
    """What the values look like."""
    values: tuple[str, str] = ("", "")
    kind: str = ""
    """Of the exchange: llm, tool, agent, other."""
    parallel: bool = False
    """Had the calls that came in another order been under way at once?"""


def difference(one: Run, other: Run, masks: Sequence[str] = ()) -> Difference | None:
    """The first one, None where the runs are the same. Calls may overtake each other freely; that is a
    difference only where nothing else is."""
    read = Masks.parse(list(masks))
    free = compare(Index(one.exchanges, read), other.exchanges)
    if free.divergence is not None:
        return _of(free.divergence, free.same, one, other)
    if _fired(one) != _fired(other):
        return Difference("faults", free.same, 0, "", "the same calls had other faults", "fault")
    strict = compare(Index(one.exchanges, read, strict_order=True), other.exchanges)
    if strict.divergence is not None:
        at = strict.same
        found = _of(strict.divergence, at, one, other)
        parallel = _overlap(one.exchanges, at) or _overlap(other.exchanges, at)
        return Difference(
            "order", at, found.call, "", found.reason, "order", found.values, found.kind, parallel
        )
    if one.code != other.code:
        reason = f"the command exited {one.code} and then {other.code} after the same calls"
        return Difference("exit code", free.same, 0, "", reason, "code")
    return None


def _of(divergence: Divergence, same: int, one: Run, other: Run) -> Difference:
    missing = divergence.kind == "missing call"
    exchanges = one.exchanges if missing else other.exchanges
    exchange = exchanges[same] if same < len(exchanges) else None
    answered = divergence.cause in ("model answer", "server answer")
    what: What = "missing" if missing else "answer" if answered else "request"
    if divergence.cause == "fault":
        what = "faults"
    place = divergence.differences[0] if divergence.differences else None
    return Difference(
        what,
        same,
        0 if missing or exchange is None else exchange.number,
        place.path if place is not None else "",
        divergence.reason,
        divergence.cause,
        (place.recorded, place.asked) if place is not None else ("", ""),
        exchange.kind if exchange is not None else "",
    )


def _overlap(exchanges: Sequence[Recorded], at: int) -> bool:
    """Was the call at this place under way together with another one?"""
    if not 0 <= at < len(exchanges):
        return False
    mine = exchanges[at]
    return any(
        other is not mine
        and other.started_ms < mine.started_ms + mine.duration_ms
        and mine.started_ms < other.started_ms + other.duration_ms
        for other in exchanges
    )


def any_parallel(run: Run) -> bool:
    """Were two calls of this run ever under way at once?"""
    return any(_overlap(run.exchanges, at) for at in range(len(run.exchanges)))


def closest_answers(run: Run) -> float:
    """The shortest time in ms between the ends of two calls that were under way at once; infinite where there
    were none."""
    ends = [(one.started_ms, one.started_ms + one.duration_ms) for one in run.exchanges]
    pairs = combinations(ends, 2)
    together = (abs(a[1] - b[1]) for a, b in pairs if a[0] < b[1] and b[0] < a[1])
    return min(together, default=inf)


def _fired(run: Run) -> list[tuple[str, str, str | None]]:
    return sorted(
        (exchange.key, line.id, line.effect)
        for exchange in run.exchanges
        for line in exchange.faults
        if line.outcome == "fired"
    )
