"""The ledger of an exchange as an event, made and looked through line by line.

A profile may have hundreds of entries that match every exchange and wait, and each has a line. What of it is
the same in every exchange (the fault, its entry and its settings) is made and looked through once.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from faultwire.tape.format import events as tape_events

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from faultwire.events import Exchange, FaultFired
    from faultwire.tape.format.events import Event
    from faultwire.tape.redact.redactor import Redactor

KEPT = 4096
"""Entries that are remembered: as many as all profiles of an engine have, as a rule."""

MANY = 12
"""Lines from which on looking at each string costs less than looking through the record: entries that wait
mostly say the same."""

_SAME = ("fault", "id", "site", "settings")
"""Members that an entry's lines share; where it acts may differ, so `site` is part of the key."""


class Ledger:
    """Makes the events of one tape; used by the writer thread only."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: OrderedDict[tuple[str, str, str, int], tuple[dict[str, Any], Event, bool]] = (
            OrderedDict()
        )

    def event(self, exchange: Exchange, faults: Iterable[FaultFired]) -> tuple[Event, bool]:
        """The event, and whether each of its strings was looked at and holds nothing like a secret. Keys are
        replaced by what stands for them."""
        lines: list[Event] = []
        said, clean = {exchange.session}, True
        last = key = ""
        for line in faults:
            known, innocent = self._template(line)
            clean = clean and innocent
            if line.key != last:
                last, key = line.key, self._redactor.keyed(line.key)
                said.add(key)
            reason, subject, effect = line.reason, line.subject, line.effect
            said.add(reason)
            if subject is not None:
                said.add(subject)
            if effect is not None:
                said.add(effect)
            made = known.copy()
            made["outcome"], made["reason"], made["key"] = line.outcome, reason, key
            made["n"], made["attempt"], made["subject"], made["effect"] = (
                line.n,
                line.attempt,
                subject,
                effect,
            )
            lines.append(made)
        event = tape_events.fault(exchange, ())
        event["lines"] = lines
        return event, clean and len(lines) >= MANY and self._is_clean(said)

    def _template(self, line: FaultFired) -> tuple[Event, bool]:
        key = (line.fault, line.id, line.site, id(line.settings))
        found = self._known.get(key)
        if found is None:
            made = tape_events.ledger_line(line)
            same = {name: made[name] for name in _SAME}
            # The settings are kept, so that no other can have their identity.
            found = self._known[key] = (line.settings, same, self._is_clean(same.values()))
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return found[1], found[2]

    def _is_clean(self, texts: Iterable[str]) -> bool:
        return all(self._redactor.text(text, {}) is text for text in texts)
