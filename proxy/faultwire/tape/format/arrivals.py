"""On which connection of its client a request came: a member of its event, where a proxy saw it come.

Readers that do not know it pass over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Arrival
from faultwire.tape.format.hash_chain import MAX_INT

if TYPE_CHECKING:
    Event = dict[str, Any]

_MEMBERS = frozenset({"number", "request", "open_ns", "ready_ns", "others", "unused"})
_NS = 1_000_000
"""Nanoseconds in a millisecond."""


def arrival_members(arrival: Arrival | None) -> Event:
    """The member `connection`."""
    if arrival is None:
        return {}
    found = {
        "number": arrival.connection,
        "request": arrival.request,
        "open_ns": int(arrival.open_ms * _NS),
        "ready_ns": int(arrival.ready_ms * _NS),
        "others": arrival.others,
        "unused": arrival.unused,
    }
    return {"connection": found}


def is_connection(value: Any) -> bool:
    """Is it what the member holds?"""
    if not isinstance(value, dict) or value.keys() != _MEMBERS:
        return False
    counts = all(type(one) is int and 0 <= one <= MAX_INT for one in value.values())
    return counts and value["number"] > 0 and value["request"] > 0


def arrival_of(event: Event) -> Arrival | None:
    """The arrival back from a checked `request` event; None where it says nothing of it."""
    found = event.get("connection")
    if found is None:
        return None
    open_ms, ready_ms = found["open_ns"] / _NS, found["ready_ns"] / _NS
    return Arrival(found["number"], found["request"], open_ms, ready_ms, found["others"], found["unused"])
