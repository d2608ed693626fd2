"""One hash for all that the faults of a run decided, whatever the order in which it happened."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire.tape.format.events import ledger_line
from faultwire.tape.format.hash_chain import record_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import FaultFired


def ledger_hash(faults: Iterable[tuple[str, FaultFired]]) -> str:
    """SHA-256 in hex over the lines of (session, fault), without order.

    Two runs with the same seed and the same traffic agree on it, on any machine. `reason` is left
    out: it tells arrival order ("call 3 matches"), which concurrency may change while the plan stays
    the same. A `key` only says which lines were decided on the same call, since on a tape it is made
    with the project's own secret: lines are hashed in groups of one key, the keys themselves are not.
    """
    groups: dict[tuple[str, str], list[bytes]] = {}
    for session, fault in faults:
        groups.setdefault((session, fault.key), []).append(_line(session, fault))
    digest = sha256()
    for group in sorted(b"".join(map(_sized, sorted(lines))) for lines in groups.values()):
        digest.update(_sized(group))
    return digest.hexdigest()


def _sized(part: bytes) -> bytes:
    return b"%d:%s" % (len(part), part)


def _line(session: str, fault: FaultFired) -> bytes:
    line = ledger_line(fault)
    del line["reason"], line["key"]
    return record_bytes({**line, "session": session})
