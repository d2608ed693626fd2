"""The event log on its way to the tape: nothing gets into it that was not looked through."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from faultwire._core import TapeLog
from faultwire.tape.format import events as tape_events
from faultwire.tape.format.hash_chain import record_bytes, storable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Exchange, FaultFired
    from faultwire.tape.evidence.sealer import Sealer
    from faultwire.tape.format.blobs import BlobRow
    from faultwire.tape.format.events import Event
    from faultwire.tape.format.rows import EventRow
    from faultwire.tape.redact.redactor import Redactor


KEPT = 4096
"""Entries that are remembered: as many as all profiles of an engine have, as a rule."""

MANY = 12
"""Lines from which on looking at each string costs less than looking through the record: entries that wait
mostly say the same."""

_SAME = ("fault", "id", "site", "settings")
"""Members that an entry's lines share; where it acts may differ, so `site` is part of the key."""


class EventLog:
    """Events in order and the bodies they name, in the core; used by the writer thread only."""

    def __init__(self, redactor: Redactor) -> None:
        self.core = TapeLog()
        self._redactor = redactor

    @property
    def last(self) -> tuple[int, str]:
        """Number and hash of the last event."""
        return self.core.seq - 1, self.core.prev

    def put(self, data: bytes) -> str:
        """Keep a body, unless it was lately; its digest in hex."""
        return self.core.put(data)

    def append(self, event: Event, counts: dict[str, int] | None = None, *, clean: bool = False) -> None:
        """Add one event. What still looks like a secret in any of its strings is redacted here,
        so that nothing reaches a hash or the disk unseen. `clean`: each was looked at already."""
        try:
            record = record_bytes(event)
        except TypeError:
            event = storable(event)
            record = record_bytes(event)
        if not clean and self._redactor.suspects(record):
            event = self._redactor.event(event, {} if counts is None else counts)
            record = record_bytes(event)
        self.core.append(event.get("session", ""), record)

    def seal(self, sealer: Sealer) -> None:
        """Sign all that came before. It holds nothing but our own digests and signature, whose base64
        might look like a secret, so it is not looked through."""
        self.core.append("", record_bytes(sealer.event(self.core.seq, self.core.root())))

    def drain(self) -> tuple[list[EventRow], list[BlobRow]]:
        """The rows of what came since the last time."""
        return self.core.drain()


class Ledger:
    """The ledger of an exchange as an event, made and looked through line by line; used by the writer thread
    only.

    A profile may have hundreds of entries that match every exchange and wait, and each has a line. What of it
    is the same in every exchange (the fault, its entry and its settings) is made and looked through once.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: OrderedDict[tuple[str, str, str, int], tuple[dict[str, Any], Event, bool]] = (
            OrderedDict()
        )

    def event(self, exchange: Exchange, faults: Iterable[FaultFired]) -> tuple[Event, bool]:
        """The event, and whether each of its strings was looked at and holds nothing like a secret. Keys are
        replaced by what stands for them."""
        lines: list[Event] = []
        texts, clean = {exchange.session}, True
        last = key = ""
        for line in faults:
            known, innocent = self._template(line)
            clean = clean and innocent
            if line.key != last:
                last, key = line.key, self._redactor.keyed(line.key)
                texts.add(key)
            reason, subject, effect = line.reason, line.subject, line.effect
            texts.add(reason)
            if subject is not None:
                texts.add(subject)
            if effect is not None:
                texts.add(effect)
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
        return event, clean and len(lines) >= MANY and self._is_clean(texts)

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
