"""A run as a search sees it: its calls by address and number, and where faults acted or could have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.explore.space import Call, Point
from faultwire.lineage.model import OUTPUT
from faultwire.lineage.trace import trace

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from faultwire.events import FaultFired, History, Recorded

_NO_DECISION = ("returned", "reapplied")
_NOT_COUNTED = ("tool `", "the fault is for another exchange")
"""How the reasons of skipped decisions begin that triggers do not count (`exchange.plan`)."""


def place_of(recorded: Recorded) -> str:
    """Method, host and path."""
    request = recorded.request
    return f"{request.method} {request.host}{request.path.partition('?')[0]}"


def calls_of(history: History) -> dict[int, Call]:
    """The call that each exchange is, by its number: a client's own retries are one call."""
    counted: dict[str, int] = {}
    found: dict[int, Call] = {}
    logical: dict[tuple[str, str, int], Call] = {}
    for recorded in history.exchanges:
        place = place_of(recorded)
        same = logical.get((place, recorded.key, recorded.n))
        if same is None or not recorded.attempt:
            counted[place] = counted.get(place, 0) + 1
            same = logical[place, recorded.key, recorded.n] = Call(place, counted[place])
        found[recorded.number] = same
    return found


def edges_of(history: History, calls: Mapping[int, Call]) -> frozenset[tuple[Call, Call | None]]:
    """The lineage between calls; None is the agent's output."""
    found: set[tuple[Call, Call | None]] = set()
    for edge in trace(history).edges:
        source = calls.get(edge.source.exchange)
        for number in (edge.target.exchange, *edge.later):
            target = None if number == OUTPUT else calls.get(number)
            if source is not None and source != target and (target is not None or number == OUTPUT):
                found.add((source, target))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a history shows besides its verdict, and at which count of its entry each point stands."""

    calls: tuple[tuple[Call, str], ...]
    points: Mapping[Point, int]
    edges: frozenset[tuple[Call, Call | None]]
    unread: bool


def observe(history: History, entries: Container[str], *, lineage: bool) -> Seen:
    """Read a history. `entries` are the ids of the profile's entries that were there and did not fire."""
    numbers = calls_of(history)
    calls: dict[Call, str] = {}
    points: dict[Point, int] = {}
    edges = set(edges_of(history, numbers)) if lineage else set()
    counted: dict[tuple[str, str], int] = {}
    seen: set[tuple[str, str, str, int]] = set()
    for recorded in history.exchanges:
        call = numbers[recorded.number]
        for line in recorded.faults:
            if line.id not in entries or line.outcome in _NO_DECISION or line.reason.startswith(_NOT_COUNTED):
                continue
            where = _result(line) or call.place
            subject = (line.id, where, line.key, line.n)
            if subject in seen:
                continue
            seen.add(subject)
            counted[line.id, where] = count = counted.get((line.id, where), 0) + 1
            if where == call.place:
                points[Point(call, line.id)] = count
            else:
                result = Call(where, count)
                calls.setdefault(result, line.key)
                points[Point(result, line.id)] = count
                edges.add((result, call))
        calls.setdefault(call, recorded.key)
    # What a WebSocket's messages ask is in no call's key: whether they changed cannot be told.
    hidden = any(recorded.messages for recorded in history.exchanges)
    unread = lineage and (hidden or any(trace(history).unread()))
    return Seen(tuple(calls.items()), points, frozenset(edges), unread)


def _result(line: FaultFired) -> str | None:
    """The place of a tool's result in a request to a model."""
    return f"result of {line.subject}" if line.site == "result" and line.subject else None
