"""One session's chain of events: what may follow, with which hash, and what its seal says.

An event is the seven members of ELS 1.0, and its hash SHA-256 over their canonical JSON without the hash.
The SDK's own hashes are computed anew: one that does not fit means that the event was changed on its way, or
hashed otherwise, which is a finding, and keeps the session from being authoritative.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.ingestion.refusal import Refused
from faultwire.tape.import_.agentops import GENESIS, event_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from faultwire.ingestion.batch import Batch, Reported

Json = dict[str, Any]
AUTHORITATIVE, PARTIAL = "AUTHORITATIVE_EVIDENCE", "PARTIAL_AUTHORITATIVE_EVIDENCE"
OPEN = "NON_AUTHORITATIVE_EVIDENCE"
MOST_FINDINGS = 20
"""That a seal lists."""


@dataclass(slots=True)
class Chain:
    """One session. `last` is the hash of its last event, `count` how many there are, without the seal."""

    session: str
    count: int = 0
    last: str = GENESIS
    drops: int = 0
    ended: bool = False
    seal: Json | None = None
    findings: list[str] = field(default_factory=list)
    unlisted: int = 0
    claimed: str | None = GENESIS
    """The SDK's own hash of the last event, which differs from ours where something was redacted; None where
    it is not known."""
    _digest: Any = None

    def __post_init__(self) -> None:
        self._digest = hashlib.sha256(self.session.encode())

    # ------------------------------------------------------------ what may follow

    def check(self, batch: Batch) -> None:
        """Raise Refused where this batch cannot follow."""
        if self.seal is not None:
            text = "the session is sealed: nothing can be added to it"
            raise Refused(409, "ALREADY_SEALED", text, sealed_at=self.seal["timestamp"])
        if self.ended:
            raise Refused(409, "SESSION_CLOSED", "the session has ended: nothing can be added to it")
        self._order(batch)
        first = batch.events[0]
        if self.count == 0 and first.kind != "SESSION_START":
            text = f"the session begins with a {first.kind}, expected SESSION_START"
            raise Refused(400, "INVALID_GENESIS", text)
        if None not in (first.claimed_before, self.claimed) and first.claimed_before != self.claimed:
            text = "the first event of the batch follows another one than the last that was received"
            raise Refused(400, "INVALID_GENESIS", text, found=first.claimed_before, expected=self.claimed)
        for at, event in enumerate(batch.events):
            self._place(at, event, last=at == len(batch.events) - 1)
        if batch.seal and batch.events[-1].kind != "SESSION_END":
            text = f"a seal was asked for behind a {batch.events[-1].kind}, expected SESSION_END as the last"
            raise Refused(400, "INVALID_SEAL_REQUEST", text)

    def _order(self, batch: Batch) -> None:
        expected = self.count + 1
        for at, event in enumerate(batch.events):
            if event.number != expected:
                again = at == 0 or batch.events[0].number <= event.number
                code = "DUPLICATE_SEQUENCE" if again else "NON_MONOTONIC_SEQUENCE"
                code = "SEQUENCE_GAP" if event.number > expected else code
                text = f"event {at} of the batch has number {event.number}, expected {expected}"
                raise Refused(409, code, text, expected=expected, found=event.number)
            expected += 1

    def _place(self, at: int, event: Reported, *, last: bool) -> None:
        if event.kind == "SESSION_START" and (at or self.count):
            text = f"event {at} of the batch is a SESSION_START, and the session has begun"
            raise Refused(400, "INVALID_PAYLOAD", text, event=at)
        if event.kind == "SESSION_END" and not last:
            text = f"event {at} of the batch is a SESSION_END, and others follow it"
            raise Refused(400, "INVALID_PAYLOAD", text, event=at)

    # ------------------------------------------------------------ what follows

    def mismatches(self, batch: Batch) -> Iterator[tuple[int, str]]:
        """The numbers of events whose own hash does not fit, and what does not. Raises Refused where an event
        has no canonical form."""
        before = self.last
        for event in batch.events:
            made = hashed(self.session, event, event.payload, event.claimed_before or before)
            if event.claimed is not None and made["event_hash"] != event.claimed:
                yield event.number, f"event {event.number} is not what its SDK hashed"
            before = event.claimed or before

    def add(self, batch: Batch, payloads: list[Json], wrong: Container[int] = ()) -> list[Json]:
        """The events, chained; `payloads` are theirs as they are kept, `wrong` the numbers that `mismatches`
        named. Call `check` first. A hash that was found to be right is not made once more."""
        made = []
        for event, payload in zip(batch.events, payloads, strict=True):
            known = event.claimed if payload is event.payload and event.number not in wrong else None
            known = known if event.claimed_before == self.last else None
            one = hashed(self.session, event, payload, self.last, known)
            self.take(one)
            made.append(one)
        self.claimed = batch.events[-1].claimed
        return made

    def take(self, event: Json) -> None:
        """One more event, which `add` made, now or before a restart."""
        if event["event_type"] == "CHAIN_SEAL":
            self.seal = event
            return
        self.count += 1
        self.claimed = None
        self.last = event["event_hash"]
        self._digest.update(self.last.encode())
        self.drops += event["event_type"] == "LOG_DROP"
        self.ended = self.ended or event["event_type"] == "SESSION_END"

    def find(self, text: str) -> None:
        """Something is wrong with what was received."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)
        else:
            self.unlisted += 1

    # ------------------------------------------------------------ the end

    @property
    def evidence_class(self) -> str:
        """As its specification grades it: by the seal, by drops, and by what was found."""
        if self.seal is not None:
            return str(self.seal["payload"]["evidence_class"])
        return OPEN

    def sealed(self, timestamp: str, service: str, version: str, key: bytes | None) -> Json:
        """The session's last event, which this service writes; with a key its HMAC-SHA256 over the hash of
        the event before it, as its verifier checks it."""
        digest = self._digest.copy()
        digest.update(self.last.encode())
        whole = not (self.drops or self.findings)
        payload: Json = {
            "authority": "server",
            "evidence_class": AUTHORITATIVE if whole else PARTIAL,
            "event_count": self.count,
            "final_event_hash": self.last,
            "final_hash": self.last,
            "ingestion_service_id": service,
            "seal_timestamp": timestamp,
            "server_timestamp": timestamp,
            "server_version": version,
            "session_digest": digest.hexdigest(),
        }
        if self.findings:
            payload["findings"] = [*self.findings, *([f"and {self.unlisted} more"] if self.unlisted else [])]
        event: Json = {
            "seq": self.count + 1,
            "event_type": "CHAIN_SEAL",
            "session_id": self.session,
            "timestamp": timestamp,
            "payload": payload,
            "prev_hash": self.last,
        }
        if key is not None:
            event["hmac"] = hmac.new(key, self.last.encode(), hashlib.sha256).hexdigest()
        event["event_hash"] = event_hash(event)
        self.take(event)
        return event


def hashed(session: str, event: Reported, payload: Json, before: str, known: str | None = None) -> Json:
    """An event with its hash, where that is not known. Raises Refused where it has no canonical form."""
    made: Json = {
        "seq": event.number,
        "event_type": event.kind,
        "session_id": session,
        "timestamp": event.timestamp,
        "payload": payload,
        "prev_hash": before,
    }
    try:
        made["event_hash"] = known or event_hash(made)
    except (ValueError, RecursionError):
        text = f"event {event.number} has no canonical JSON: half a surrogate pair, or nested too deep"
        raise Refused(400, "INVALID_PAYLOAD", text, number=event.number) from None
    return made


def restored(events: Iterator[Json], of: Callable[[str], Chain]) -> str | None:
    """Take events of an earlier start into their chains. The first thing that does not fit, None where all
    does."""
    for event in events:
        chain = of(str(event.get("session_id")))
        try:
            fits = event["prev_hash"] == chain.last and event_hash(event) == event["event_hash"]
        except (KeyError, ValueError, RecursionError):
            fits = False
        if not fits or event["seq"] != chain.count + 1:
            return f"event {chain.count + 1} of session `{chain.session}` is not what was kept"
        chain.take(event)
    return None
