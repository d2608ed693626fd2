"""From points to a profile: an entry of its own for each place, beside the user's, which only watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.profile.model import Profile
from faultwire.trials.execute import NEVER
from faultwire.trials.model import Pin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.explore.space import Point
    from faultwire.profile.entry_model import Entry, On

RESULT = "result of "
"""How the place of a tool's result begins."""


def derived_id(entry: str, place: str, places: Mapping[str, int]) -> str:
    """The id of an entry at a place; places are numbered in the order in which they were seen."""
    return f"explore-{places[place]}-{entry}"


def derived(
    profile: Profile, points: Iterable[Point], counts: Mapping[Point, int], places: Mapping[str, int]
) -> tuple[Profile, frozenset[Pin]]:
    """The profile in which exactly these points fire, and its pins. The entries that only watch never fire:
    their lines in the ledger show where they could have. Raises KeyError for a point that was never seen."""
    by_id = {entry.id: entry for entry in profile.entries}
    made: dict[str, Entry] = {}
    pins = {Pin(entry.id, NEVER) for entry in profile.entries}
    for point in sorted(points):
        base, place = by_id[point.entry], point.call.place
        name = derived_id(base.id, place, places)
        made.setdefault(name, base.model_copy(update={"id": name, "on": _at(base.on, place)}))
        pins.add(Pin(name, counts[point]))
    fields = {name: getattr(profile, name) for name in Profile.model_fields}
    entries = (*made.values(), *profile.entries)
    return Profile(**{**fields, "entries": entries, "digest": "", "warnings": ()}), frozenset(pins)


def _at(on: On, place: str) -> On:
    if place.startswith(RESULT):
        return on.model_copy(update={"tool": _literal(place.removeprefix(RESULT)), "site": "result"})
    method, _, address = place.partition(" ")
    host, slash, path = address.partition("/")
    here: dict[str, Any] = {"method": method, "host": _literal(host), "path": _literal(slash + path)}
    return on.model_copy(update=here)


def _literal(text: str) -> str:
    """A glob for a text: its own stars stand for any one character, as nothing escapes them."""
    return text.replace("*", "?")
