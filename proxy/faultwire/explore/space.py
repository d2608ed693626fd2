"""What a search varies: one fault on one call, known by its address and its number there.

A call keeps its name whatever happens elsewhere: the second `GET /price` is the second one, whether or not an
earlier call of another address was tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.trials.model import NO_TOKENS, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """The `number`-th logical call at a place, from 1. A place is a method, host and path, or a tool's name
    for results in requests to models."""

    place: str
    number: int

    @property
    def text(self) -> str:
        """For example `GET tools.example/price, call 2`."""
        return f"{self.place}, call {self.number}"


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """One fault on one call: what a search switches on and off."""

    call: Call
    entry: str

    @property
    def text(self) -> str:
        """For example `status on GET tools.example/price, call 2`."""
        return f"{self.entry} on {self.call.text}"


Faults = frozenset[Point]


def key_of(faults: Iterable[Point]) -> str:
    """The same for the same set."""
    return "\n".join(point.text for point in sorted(faults))


@dataclass(frozen=True, slots=True)
class Observation:
    """One run. `calls` are its calls with what each asked (a fingerprint), in order; `points` is where the
    faults of the profile could have acted; `edges` are the lineage between its calls, the agent's output as
    None."""

    failed: bool | None
    reason: str = ""
    calls: tuple[tuple[Call, str], ...] = ()
    fired: Faults = frozenset()
    points: Faults = frozenset()
    edges: frozenset[tuple[Call, Call | None]] = frozenset()
    unread: bool = False
    """Could the bytes of some exchange not be looked at?"""
    seconds: float = 0.0
    cost_usd: float = 0.0
    output: str = ""
    """A hash of what the agent printed, and its exit code."""
    unpriced: int = 0
    """Answers of models whose cost is not known, and not in `cost_usd`."""
    tokens: Tokens = NO_TOKENS

    @property
    def asked(self) -> dict[Call, str]:
        """What each call asked."""
        return dict(self.calls)


@dataclass(frozen=True, slots=True)
class Effect:
    """What faults changed in a run against the calm one: calls that are `new`, that ask something else
    (`changed`), and that are `missing`."""

    new: frozenset[Call] = frozenset()
    changed: frozenset[Call] = frozenset()
    missing: frozenset[Call] = frozenset()


def effect(calm: Observation, run: Observation) -> Effect:
    """The difference of two runs by their calls. Where a place was only asked the same again, the numbers of
    its later calls move, and nothing has changed."""
    before, after = calm.asked, run.asked
    again = {place for place, keys in _by_place(run).items() if keys == _by_place(calm).get(place)}
    return Effect(
        frozenset(after.keys() - before.keys()),
        frozenset(
            call for call, key in after.items() if call.place not in again and before.get(call, key) != key
        ),
        frozenset(before.keys() - after.keys()),
    )


def _by_place(run: Observation) -> dict[str, list[str]]:
    """What was asked at each place, without what was asked again at once."""
    found: dict[str, list[str]] = {}
    for call, key in run.calls:
        keys = found.setdefault(call.place, [])
        if not keys or keys[-1] != key:
            keys.append(key)
    return found


def reached(run: Observation, call: Call) -> frozenset[Call | None]:
    """The calls that bytes of this one's answer reached over any number of edges; None is the output."""
    after: dict[Call, list[Call | None]] = {}
    for source, target in run.edges:
        after.setdefault(source, []).append(target)
    found: set[Call | None] = set()
    waiting: list[Call | None] = list(after.get(call, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(after.get(one, ()) if one is not None else ())
    return frozenset(found)
