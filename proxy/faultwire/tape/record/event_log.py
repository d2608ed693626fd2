"""The event log on its way to the tape: numbers, links and hashes each event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire._core import Frontier
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, storable

if TYPE_CHECKING:
    from faultwire.tape.evidence.sealer import Sealer
    from faultwire.tape.format.events import Event
    from faultwire.tape.format.rows import EventRow
    from faultwire.tape.redact.redactor import Redactor


class EventLog:
    """Events in order, and the tree over them; used by the writer thread only."""

    def __init__(self, redactor: Redactor) -> None:
        self.rows: list[EventRow] = []
        self.seq = 0
        self.tree = Frontier()
        self._prev = GENESIS
        self._redactor = redactor

    @property
    def last(self) -> tuple[int, str]:
        """Number and hash of the last event."""
        return self.seq - 1, self._prev

    def append(self, event: Event, counts: dict[str, int] | None = None, *, clean: bool = False) -> None:
        """Add one event. What still looks like a secret in any of its strings is redacted here,
        so that nothing reaches a hash or the disk unseen. `clean`: each was looked at already."""
        event["seq"] = self.seq
        event["prev"] = self._prev
        try:
            record = record_bytes(event)
        except TypeError:
            event = storable(event)
            record = record_bytes(event)
        if not clean and self._redactor.suspects(record):
            event = self._redactor.event(event, {} if counts is None else counts)
            record = record_bytes(event)
        self._add(event, record)

    def seal(self, sealer: Sealer) -> None:
        """Sign all that came before. It holds nothing but our own digests and signature, whose base64
        might look like a secret, so it is not looked through."""
        event = sealer.event(self.seq, self.tree.root())
        event["seq"] = self.seq
        event["prev"] = self._prev
        self._add(event, record_bytes(event))

    def _add(self, event: Event, record: bytes) -> None:
        digest = leaf(record)
        self.rows.append((self.seq, event.get("session", ""), record, digest))
        self.tree.push(digest)
        self.seq += 1
        self._prev = digest.hex()
