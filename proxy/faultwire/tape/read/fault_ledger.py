"""One hash for all that the faults of a run decided, whatever the order in which it happened."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire.tape.format.events import ledger_line
from faultwire.tape.format.hash_chain import record_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import FaultFired


VERSION_2 = b"faultwire-ledger-v2"


def ledger_hash(faults: Iterable[tuple[str, FaultFired]], attacked: Iterable[tuple[str, str]] = ()) -> str:
    """SHA-256 in hex over the lines of (session, fault), without order.

    Two runs with the same seed and the same traffic agree on it, on any machine. `reason` is left
    out: it tells arrival order ("call 3 matches"), which concurrency may change while the plan stays
    the same. A `key` only says which lines were decided on the same call, since on a tape it is made
    with the project's own secret: lines are hashed in groups of one key, the keys themselves are not.

    `attacked` are (session, fingerprint) of the requests that faults changed on their way to a model. Where
    there are any, the hash is of version 2 and covers them; without them it is of version 1, the lines alone.
    """
    groups: dict[tuple[str, str], list[bytes]] = {}
    for session, fault in faults:
        groups.setdefault((session, fault.key), []).append(_line(session, fault))
    digest = sha256()
    for group in sorted(b"".join(map(_sized, sorted(lines))) for lines in groups.values()):
        digest.update(_sized(group))
    delivered = sorted(_sized(session.encode()) + _sized(found.encode()) for session, found in attacked)
    if not delivered:
        return digest.hexdigest()
    return sha256(b"".join(map(_sized, (VERSION_2, digest.digest(), *delivered)))).hexdigest()


def _sized(part: bytes) -> bytes:
    return b"%d:%s" % (len(part), part)


def _line(session: str, fault: FaultFired) -> bytes:
    line = ledger_line(fault)
    del line["reason"], line["key"]
    return record_bytes({**line, "session": session})
