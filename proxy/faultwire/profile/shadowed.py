"""Entries of a profile that an earlier one always leaves nothing to act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.faults._api import SITES, ResultFault
from faultwire.profile.entry_model import On

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.profile.entry_model import Entry


def shadowed(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Each entry that never acts because another one always acts before it, with that one."""
    composed = sorted(entries, key=lambda entry: SITES.index(entry.fault.site))
    for at, later in enumerate(composed):
        earlier = next((one for one in composed[:at] if _always(one) and _covers(one, later)), None)
        if earlier is not None:
            yield later, earlier


def _always(entry: Entry) -> bool:
    """Does it fire on every call that it matches, and on each attempt?"""
    trigger = entry.trigger.model_dump(exclude_defaults=True, exclude={"no_sdk_retry"})
    return not trigger or trigger == {"probability": 1}


def _covers(earlier: Entry, later: Entry) -> bool:
    """Does the earlier one leave nothing where the later one would act?

    Of the faults on one result only the first acts. Elsewhere the first one has to end the exchange before
    the call; a fault on connections may act before that, on the tunnel.
    """
    one, other = earlier.fault, later.fault
    if isinstance(one, ResultFault):
        return isinstance(other, ResultFault) and later.on.sites == ("result",) and earlier.on == later.on
    if not one.final or isinstance(other, ResultFault) or "connection" in other.moments:
        return False
    if one.protocols or (one.kinds and not (other.kinds and set(other.kinds) <= set(one.kinds))):
        return False
    return _matches_all(earlier.on, later)


def _matches_all(on: On, later: Entry) -> bool:
    """Does it match whatever the later entry matches?"""
    if on == later.on:
        return not later.fault.protocols
    kinds = later.on.kinds or later.fault.kinds
    if not kinds or "other" in kinds or later.fault.protocols or on.status is not None:
        return False  # exchanges of kind `other` match only where they are named
    keys = [key for key in On.model_fields if getattr(on, key) is not None]
    same_site = on.tool is None or on.sites == later.on.sites
    return same_site and all(getattr(on, key) == getattr(later.on, key) for key in keys)
