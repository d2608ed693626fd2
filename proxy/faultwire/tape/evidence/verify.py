"""Verifies a tape. Everything is derived again from the rows; every finding is reported."""

from __future__ import annotations

import sqlite3
from array import array
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from faultwire import _core
from faultwire._core import Frontier
from faultwire.errors import TapeTampered
from faultwire.events import past
from faultwire.tape.evidence.check_seals import SealChecker
from faultwire.tape.evidence.findings import MAX_FINDINGS, Code, Finding, VerifyReport, evidence_class
from faultwire.tape.format import hash_chain
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.bypassed import bypasses
from faultwire.tape.format.events import KINDS
from faultwire.tape.format.file import connect_reader, event_rows, schema_digest
from faultwire.tape.format.validate import chunk_bytes, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.tape.evidence.signed_note import VerifierKey
    from faultwire.tape.format.events import Event

__all__ = ["Finding", "VerifyReport", "evidence_class", "verify"]


def verify(path: Path | str, trusted: Sequence[VerifierKey] = (), *, demanded: bool = False) -> VerifyReport:
    """Check a tape, and its seals against the trusted keys; `demanded` says that it must have one.

    Raises TapeNotFound, TapeVersion or TapeError where it cannot be read at all.
    """
    place = Path(path)
    report = VerifyReport(place)
    try:
        connection = connect_reader(place)
    except TapeTampered as error:
        report.findings.append(Finding("schema_mismatch", error.message))
        return report
    try:
        _Check(connection, report, trusted, demanded=demanded).run()
    except sqlite3.Error as error:
        report.findings.append(Finding("damaged", f"a row cannot be read: {error}"))
    finally:
        connection.close()
    return report


class _Check:
    def __init__(
        self,
        connection: sqlite3.Connection,
        report: VerifyReport,
        trusted: Sequence[VerifierKey],
        *,
        demanded: bool,
    ) -> None:
        self._connection = connection
        self._report = report
        self._seals = SealChecker(self._find, trusted, demanded)
        from faultwire.tape.evidence.erasures import Erasures  # engines verify few tapes

        self._erasures = Erasures()
        self._blobs: dict[str, int] = {}
        self._used: set[str] = set()
        self._open_sessions: dict[str, int] = {}
        self._open_exchanges: dict[tuple[str, int], int] = {}
        self._ended_sessions: set[str] = set()
        self._ended_exchanges: set[tuple[str, int]] = set()
        self._pieces: dict[tuple[str, int], dict[str | int | None, list[int]]] = {}
        self._prev = hash_chain.GENESIS
        self._tree = Frontier()

    def run(self) -> None:
        # One snapshot of a tape that may still grow.
        self._connection.execute("BEGIN")
        self._read_blobs()
        expected = 0
        sessions: dict[str, array[int]] = {}
        for seq, session, record, digest in event_rows(self._connection):
            sessions.setdefault(session, array("q")).append(seq)
            if seq != expected:
                self._find("sequence_gap", f"event {expected} is missing, found {seq}", expected)
            expected = seq + 1
            self._event(seq, session, record, digest)
            if len(self._report.findings) > MAX_FINDINGS:
                break
        if expected == 0:
            self._find("sequence_gap", "event 0 is missing, the tape is empty", 0)
        self._index(sessions)
        self._report.events = self._tree.size
        self._report.root = self._tree.root().hex()
        self._closing_notes()

    def _index(self, sessions: dict[str, array[int]]) -> None:
        """Readers find a session's events by the index: one that leaves some out would hide them."""
        found: dict[str, array[int]] = {}
        query = "SELECT session, seq FROM events INDEXED BY events_by_session ORDER BY session, seq"
        for session, seq in self._connection.execute(query):
            found.setdefault(session if isinstance(session, str) else "", array("q")).append(seq)
        if found != sessions:
            self._find("damaged", "the index over sessions does not name the events that are there")

    def _find(self, code: str, message: str, seq: int | None = None) -> None:
        finding = Finding(cast(Code, code), message, seq)
        if len(self._report.findings) < MAX_FINDINGS or not finding.is_note or seq is None:
            self._report.findings.append(finding)

    # ------------------------------------------------------------ blobs

    def _read_blobs(self) -> None:
        rows = self._connection.execute("SELECT digest, size, packed, data FROM blobs ORDER BY rowid")
        for digest, size, packed, data in rows:
            if len(self._report.findings) > MAX_FINDINGS:
                break
            name = digest.hex() if isinstance(digest, bytes) else ""
            self._blobs[name] = size
            try:
                found = sha256(unpack(size, packed, data)).digest()
            except TapeTampered as error:
                self._find("blob_mismatch", f"blob `{name}`: {error.message}")
                continue
            if found != digest:
                self._find("blob_mismatch", f"blob `{name}` has SHA-256 {found.hex()}")
        self._report.blobs = len(self._blobs)

    def _blob(self, body: Any, seq: int) -> None:
        name, size = body["blob"], body["size"]
        self._used.add(name)
        if name not in self._blobs:
            self._erasures.missing(name, seq)
        elif not hash_chain.is_number(size, self._blobs[name]):
            self._find("blob_mismatch", f"blob `{name}` has {self._blobs[name]} bytes, expected {size}", seq)

    def _piece(self, event: Event, seq: int) -> None:
        self._blob(event["body"], seq)
        if "chunks" in event["body"]:
            sides = self._pieces.setdefault((event["session"], event["exchange"]), {})
            sizes = sides.setdefault(named(event["side"]), [0, 0])
            sizes[0] += event["body"]["size"]
            sizes[1] += chunk_bytes(event["body"]["chunks"])

    def _ended(self, event: Event, seq: int) -> None:
        exchange = event["session"], event["exchange"]
        self._ended_exchanges.add(exchange)
        self._open_exchanges.pop(exchange, None)
        for side, (size, chunks) in self._pieces.pop(exchange, {}).items():
            if size != chunks:
                message = f"the {side} chunks before event {seq} have {chunks} bytes, expected {size}"
                self._find("record_malformed", message, seq)

    # ------------------------------------------------------------ events

    def _event(self, seq: int, session: str, record: bytes, digest: bytes) -> None:
        found = hash_chain.leaf(record)
        before = self._tree.root() if b'"seal"' in record else b""
        self._tree.push(found)
        if found != digest:
            self._find("hash_mismatch", f"event {seq} hashes to {found.hex()}, found {digest.hex()}", seq)
        prev, self._prev = self._prev, found.hex()
        fraction = hash_chain.may_have_fraction(record)
        event = self._parsed(seq, record, fraction)
        if event is None:
            return
        if event.get("prev") != prev:
            self._find("chain_broken", f"event {seq} follows {event.get('prev')}, expected {prev}", seq)
        if not hash_chain.is_number(event.get("seq"), seq) or event.get("session", "") != session:
            self._find("row_mismatch", f"event {seq} is not what its row says", seq)
        try:
            self._meaning(seq, event, before)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self._find("record_malformed", f"event {seq} lacks what its kind must have: {error!r}", seq)

    def _parsed(self, seq: int, record: bytes, fraction: bool) -> Event | None:
        try:
            event = orjson.loads(record)
        except ValueError:
            event = None
        if not isinstance(event, dict) or not hash_chain.is_canonical_event(record, event, fraction=fraction):
            self._find("record_malformed", f"event {seq} is not canonical JSON", seq)
        return event if isinstance(event, dict) else None

    def _meaning(self, seq: int, event: Event, root: bytes) -> None:
        kind = event["type"]
        if kind not in KINDS:
            self._find("record_malformed", f"event {seq} is of no kind that a tape has", seq)
        if seq == 0 and (kind != "tape" or event.get("schema") != schema_digest()):
            self._find("schema_mismatch", "the first event does not name this version's schema", seq)
        self._not_after_end(event, seq)
        if seq == 0:
            self._report.origin = self._seals.origin = event["origin"]
            _core.jcs(event["settings"].encode())  # what not every reader reads is refused
            settings = orjson.loads(event["settings"])
            self._report.imported, self._report.made_by = settings.get("imported"), settings.get("made_by")
            self._report.reported = settings.get("ingested") is True
        if kind == "seal":
            self._seals.event(seq, event, root)
        elif kind == "erasure":
            self._erasures.event(seq, event, self._used)
        elif kind == "note" and event.get("bad") is True:
            self._find("import_finding", f"{event['code']}: {event['text']}", seq)
        elif kind == "drop":
            self._find("drop_present", f"exchange {event['exchange']} is missing: {event['reason']}", seq)
        else:
            self._order(seq, kind, event)
        if event.get("body"):
            self._piece(event, seq)

    def _order(self, seq: int, kind: str, event: Event) -> None:
        """What opens and what closes."""
        if kind == "session_start":
            self._open_sessions[event["session"]] = seq
            self._report.sessions += 1
        elif kind == "session_end":
            self._open_sessions.pop(event["session"], None)
            self._ended_sessions.add(event["session"])
            self._bypasses(seq, event)
        elif kind == "request":
            self._open_exchanges[event["session"], event["exchange"]] = seq
            self._report.exchanges += 1
        elif kind == "end":
            self._ended(event, seq)

    def _bypasses(self, seq: int, event: Event) -> None:
        bypassed, more = bypasses(event)
        if bypassed or more:
            self._find("bypass_present", f"session `{event['session']}` {past(bypassed, more)}", seq)

    def _not_after_end(self, event: Event, seq: int) -> None:
        session = named(event.get("session"))
        if session in self._ended_sessions:
            self._find("event_after_end", f"event {seq} comes after the end of session `{session}`", seq)
        elif (session, named(event.get("exchange"))) in self._ended_exchanges:
            message = f"event {seq} comes after the end of exchange {event['exchange']} of `{session}`"
            self._find("event_after_end", message, seq)

    # ------------------------------------------------------------ the end

    def _closing_notes(self) -> None:
        for session, seq in self._open_sessions.items():
            self._find("session_open", f"session `{session}` never ended", seq)
        for (session, number), seq in self._open_exchanges.items():
            self._find("exchange_open", f"exchange {number} of session `{session}` never ended", seq)
        self._seals.close(self._report.path, self._report.events)
        for code, message, seq in self._erasures.close(self._seals.last, self._blobs):
            self._find(code, message, seq)
        self._report.key = str(self._seals.key) if self._seals.key else None
        self._report.trusted = self._seals.is_trusted
        for name in self._unused():
            self._find("blob_unreferenced", f"blob `{name}` belongs to no event")

    def _unused(self) -> Iterator[str]:
        return (name for name in self._blobs if name not in self._used)
