"""Pinned decisions: from the ledger of a run, and into a profile that repeats exactly these."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern is fixed
from collections import Counter
from typing import TYPE_CHECKING

from faultwire.profile.entry_model import Trigger
from faultwire.profile.model import Profile
from faultwire.trials.model import Pin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded
    from faultwire.profile.entry_model import Entry

_CALL = re.compile(r"call (\d+) matches")
"""The reason of a decision that was made without chance names its call."""
_NO_DECISION = ("returned", "reapplied", "inapplicable")
_NOT_COUNTED = ("tool `", "the fault is for another exchange")
"""How the reasons of skipped decisions begin that triggers do not count (`exchange.plan`)."""


def pins_of(exchanges: Iterable[Recorded]) -> tuple[Pin, ...]:
    """The decisions that fired in a session, in the order of its ledger.

    An entry's calls are counted as its trigger counted them: the attempts of a logical call once, and what
    the fault could not act on not at all.
    """
    seen: Counter[str] = Counter()
    calls: dict[tuple[str, str, int], int] = {}
    found: dict[Pin, None] = {}
    for exchange in exchanges:
        for line in exchange.faults:
            if line.outcome in _NO_DECISION or line.reason.startswith(_NOT_COUNTED):
                continue
            subject = (line.id, line.key, line.n)
            if subject not in calls:
                named = _CALL.fullmatch(line.reason)
                seen[line.id] = int(named[1]) if named else seen[line.id] + 1
                calls[subject] = seen[line.id]
            if line.outcome == "fired":
                found.setdefault(Pin(line.id, calls[subject], exchange.number))
    return tuple(found)


def pinned(profile: Profile, pins: Iterable[Pin]) -> Profile:
    """The profile in which these decisions fire, and no other. Ids stay as they are: dice depend on them.

    Raises ValueError for a pin of an entry that the profile does not have.
    """
    calls: dict[str, set[int]] = {}
    for pin in pins:
        calls.setdefault(pin.entry, set()).add(pin.call)
    if unknown := calls.keys() - {entry.id for entry in profile.entries}:
        raise ValueError(f"the profile has no entry `{min(unknown)}`")
    entries = tuple(_pinned(entry, calls[entry.id]) for entry in profile.entries if entry.id in calls)
    fields = {name: getattr(profile, name) for name in Profile.model_fields}
    # Made anew: a copy would keep what the original has worked out about its entries.
    return Profile(**{**fields, "entries": entries, "digest": "", "warnings": ()})


def _pinned(entry: Entry, calls: set[int]) -> Entry:
    kept = entry.trigger
    trigger = Trigger(calls=tuple(sorted(calls)), no_sdk_retry=kept.no_sdk_retry, attempts=kept.attempts)
    return entry.model_copy(update={"trigger": trigger})
