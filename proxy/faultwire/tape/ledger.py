"""One hash for all that the faults of a run decided, whatever the order in which it happened."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire.tape.chain import record_bytes
from faultwire.tape.records import ledger_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import FaultFired


def ledger_hash(faults: Iterable[tuple[str, FaultFired]]) -> str:
    """SHA-256 in hex over the sorted lines of (session, fault).

    Two runs with the same seed and the same traffic agree on it. `reason` is left out: it tells
    arrival order ("call 3 matches"), which concurrency may change while the plan stays the same.
    """
    digest = sha256()
    for line in sorted(_line(session, fault) for session, fault in faults):
        digest.update(b"%d:%s" % (len(line), line))
    return digest.hexdigest()


def _line(session: str, fault: FaultFired) -> bytes:
    line = ledger_line(fault)
    del line["reason"]
    return record_bytes({**line, "session": session})
