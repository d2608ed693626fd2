"""The tape that a workbench shows: its index, and what is read of it when somebody asks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from faultwire.clock import iso
from faultwire.errors import TapeIncomplete
from faultwire.report.text import line
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.exchange_view import exchange_view
from faultwire.workbench.index import TapeIndex
from faultwire.workbench.lineage_view import lineage_view
from faultwire.workbench.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.workbench.controls import Controls

FINDINGS = 500
"""Findings of a verification that are told."""
LINES = 20_000
"""Lines of the ledger that one answer holds."""


class Subject:
    """One tape. Raises TapeError where it is none; what is wrong further on is told by the index."""

    def __init__(
        self, path: Path, urge: Callable[[], None] | None = None, controls: Controls | None = None
    ) -> None:
        self.path, self.controls = path, controls
        with TapeReader.open(path) as reader:
            self._info = reader.info()
        self.index = TapeIndex(path, urge)
        self.metrics = Metrics()
        self.index.sinks.append(self.metrics.take)
        self.verification: dict[str, Any] | None = None
        self._verifying, self._tracing = threading.Lock(), threading.Lock()

    def about(self) -> dict[str, Any]:
        """What is known of the tape as a whole."""
        index = self.index
        return {
            "name": line(self.path.name),
            "path": line(str(self.path), 1_000),
            "origin": line(self._info.origin),
            "created": iso(self._info.created_ms),
            "live": index.live,
            "reading": not index.wait(0),
            "problem": None if index.problem is None else line(index.problem, 1_000),
            "events": index.events,
            "exchanges": len(index.rows),
            "sessions": len(index.places.sessions),
            "notes": [{"code": n.code, "text": line(n.text, 500), "bad": n.bad} for n in list(index.notes)],
            "revision": index.revision,
        }

    def verify(self) -> dict[str, Any]:
        """What the verification finds now; one at a time, for it reads all of the tape."""
        with self._verifying:
            found = verify(self.path, KeyRing().trusted()).dump()
            found["findings_not_shown"] = max(0, len(found["findings"]) - FINDINGS)
            found["findings"] = [
                {**one, "message": line(one["message"], 500)} for one in found["findings"][:FINDINGS]
            ]
            found["reasons"] = [line(text, 500) for text in found["reasons"][:FINDINGS]]
            self.verification = found
        return found

    def view(self, at: int) -> dict[str, Any]:
        """The exchange at a place of the list. Raises TapeError where it cannot be read, or is not there."""
        detail = self.index.recorded.detail(self._there(at))
        recorded = detail.recorded
        earlier = self.index.recorded.of_session(recorded.session, at)
        return exchange_view(
            recorded, recorded.started_ms, detail.forwarded, detail.redactions, session=earlier
        )

    def lineage(self, at: int) -> dict[str, Any]:
        """The lineage of the exchange at a place of the list. Raises TapeError, as `view`."""
        known = self.index.places.span(self._there(at))
        with self._tracing:
            return lineage_view(self.index.recorded.of_session(known.session), known.number)

    def _there(self, at: int) -> int:
        if at >= len(self.index.places):
            raise TapeIncomplete(f"the tape has no exchange at place {at}", code="tape.no_exchange")
        return at

    def ledger(self) -> list[dict[str, Any]]:
        """What faults decided, in the order of the list."""
        found: list[dict[str, Any]] = []
        for at, recorded in enumerate(self.index.recorded):
            for fault in recorded.faults:
                if len(found) >= LINES:
                    return found
                found.append(
                    {
                        "at": at,
                        "session": line(recorded.session),
                        "number": recorded.number,
                        "id": line(fault.id),
                        "fault": line(fault.fault),
                        "outcome": fault.outcome,
                        "reason": line(fault.reason, 500),
                        "effect": line(fault.effect, 500) if fault.effect else None,
                    }
                )
        return found
