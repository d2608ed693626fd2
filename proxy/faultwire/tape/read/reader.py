"""Reading tapes: read-only, and distrustful of what the file says.

What is read of an exchange leaves its bodies on the tape; whoever asks for one has it read, also
after the reader was closed. A damaged body is therefore reported when it is read.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import orjson

from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.events import History
from faultwire.tape.format import validate
from faultwire.tape.format.blobs import unpack
from faultwire.tape.format.bypassed import bypasses
from faultwire.tape.format.events import fault_fired
from faultwire.tape.format.file import connect_reader
from faultwire.tape.format.hash_chain import leaf
from faultwire.tape.read import decode, metadata
from faultwire.tape.read.attacked_requests import changed_requests, is_attack
from faultwire.tape.read.call_identity import CallNumbering, LookedUpCall, revoked
from faultwire.tape.read.decode import EventDecoder
from faultwire.tape.read.fault_ledger import ledger_hash
from faultwire.tape.read.lazy_bodies import Remembered, opening
from faultwire.tape.read.metadata import (
    Foreign as Foreign,
    Note as Note,
    SessionInfo as SessionInfo,
    TapeInfo as TapeInfo,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.events import FaultFired, Recorded, Request
    from faultwire.tape.format.events import Event

T = TypeVar("T")

_OF_SESSION = "SELECT seq, session, record, hash FROM events WHERE session = ?"
MAX_RECORD = 64 * 1024 * 1024
"""No event is longer; a stored one that claims more is refused unread."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One exchange with what `Recorded` leaves out."""

    recorded: Recorded
    forwarded: Request | None
    redactions: dict[str, int]
    """Replaced values by class."""


class TapeReader:
    """A tape opened for reading, also while it is being written.

    Every row is held against its own hash when it is read; `verify` checks the chain as well. While one
    thread reads a history, others may ask for bodies of earlier ones.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = connection
        self._body = Remembered(opening(self._blob))
        self._alone = threading.RLock()
        """Not every SQLite takes questions from two threads on one connection."""

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a tape. Raises TapeNotFound, TapeVersion, TapeTampered, or TapeError if unreadable."""
        place = Path(path)
        return cls(place, connect_reader(place))

    def close(self) -> None:
        """Let the file go; a body that is asked for later opens it for as long as it takes."""
        with self._alone:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> TapeReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ what is there

    def info(self) -> TapeInfo:
        """What the tape says of itself."""
        for event in self._events("SELECT seq, session, record, hash FROM events WHERE seq = 0"):
            return self._understood(event, metadata.info, self.path)
        raise TapeTampered(f"tape `{self.path}` has no first event", code="tape.sequence_gap")

    def sessions(self) -> tuple[SessionInfo, ...]:
        """All sessions, oldest first."""
        return tuple(sorted(map(self._session, self._names()), key=lambda info: info.started_ms))

    def has(self, session: str) -> bool:
        """Is there a session of this name? One look-up, however many there are."""
        row = session and self._one("SELECT 1 FROM events WHERE session = ? LIMIT 1", (session,))
        return bool(row)

    def exchanges(self, session: str | None = None) -> Iterator[Recorded]:
        """Every exchange, by session (in the order in which they began) and number."""
        for name in [session] if session is not None else [info.name for info in self.sessions()]:
            yield from self._recorded(self._gathered(name))

    def foreign(self, session: str | None = None) -> Iterator[Foreign]:
        """The events of an imported log that are no exchanges, in the order of that log."""
        for name in [session] if session is not None else [info.name for info in self.sessions()]:
            for event in self._events(f"{_OF_SESSION} ORDER BY seq", (name,)):
                if event["type"] == "foreign":
                    yield self._understood(event, metadata.foreign, self._body)

    def notes(self) -> Iterator[Note]:
        """What the tape says to its readers, such as what was wrong with an imported file."""
        for event in self._events(f"{_OF_SESSION} ORDER BY seq", ("",)):
            if event["type"] == "note":
                yield self._understood(event, metadata.note)

    def history(self, session: str) -> History:
        """All traffic of one session, by number. Raises TapeIncomplete where it is not on the tape."""
        gathered, last = self._read(session) if session else ({}, None)
        if last is None:
            raise TapeIncomplete(f"tape `{self.path}` has no session `{session}`", code="tape.no_session")
        sent = {
            at: self._understood(one, decode.forwarded, self._body) for at, one in sorted(gathered.items())
        }
        forwarded = tuple((at, request) for at, request in sent.items() if request is not None)
        exchanges = tuple(self._recorded(_numbered(gathered)))
        listed = ((one.number, revoked(one)) for one in exchanges)
        notes = tuple(f"exchange {number} is of kind `other`: {why}" for number, why in listed if why)
        past = self._understood(last, bypasses)[0] if last["type"] == "session_end" else ()
        return History(session, exchanges, notes=notes, bypassed=past, forwarded=forwarded)

    def detail(self, session: str, number: int) -> Detail:
        """One exchange with everything known. Raises TapeIncomplete where it is not on the tape."""
        gathered = EventDecoder()
        # The text finds the few events in question; whether they are, the event itself says.
        query = f"{_OF_SESSION} AND instr(record, ?) ORDER BY seq"
        for event in self._events(query, (session, f'"exchange":{number}'.encode())):
            if event.get("exchange") == number:
                self._understood(event, gathered.add)
        among = LookedUpCall(lambda: next((e for e in self.exchanges(session) if e.number == number), None))
        found = self._understood(gathered, decode.decode, self._body, among)
        if found is not None:
            return Detail(
                found, self._understood(gathered, decode.forwarded, self._body), gathered.redactions
            )
        raise TapeIncomplete(
            f"session `{session}` on tape `{self.path}` has no exchange {number}", code="tape.no_exchange"
        )

    def forwarded(self, session: str) -> dict[tuple[str, int], Request]:
        """Requests of a session that went on otherwise than the agent sent them, by session and number."""
        found: dict[tuple[str, int], Request] = {}
        for gathered in self._gathered(session):
            sent = self._understood(gathered, decode.forwarded, self._body)
            if sent is not None and gathered.request is not None:
                found[session, gathered.request["exchange"]] = sent
        return found

    def all_forwarded(self) -> dict[tuple[str, int], Request]:
        """The same of all sessions."""
        return {place: sent for name in self._names() for place, sent in self.forwarded(name).items()}

    def ledger(self) -> Iterator[tuple[str, FaultFired]]:
        """Every ledger line with its session."""
        for session in self._names():
            for gathered in self._gathered(session):
                for line in gathered.lines:
                    yield session, self._understood(line, fault_fired)

    def ledger_hash(self, *others: TapeReader) -> str:
        """The hash of all that faults decided, here and on `others`; see `fault_ledger.ledger_hash`."""
        each = [(tape, set[str]()) for tape in (self, *others)]
        return ledger_hash(
            (line for tape, attacked in each for line in tape._noting(attacked)),
            (found for tape, attacked in each for found in tape._changed(attacked)),
        )

    def _noting(self, attacked: set[str]) -> Iterator[tuple[str, FaultFired]]:
        """The ledger, while the sessions are noted in which a fault changed what a model reads."""
        for session, line in self.ledger():
            if is_attack(line):
                attacked.add(session)
            yield session, line

    def _changed(self, sessions: set[str]) -> Iterator[tuple[str, str]]:
        """What went on changed to models in these sessions; asked for once they are known."""
        for session in sessions:
            for gathered in self._gathered(session):
                for found in self._understood(gathered, changed_requests, self._body):
                    yield session, found

    # ------------------------------------------------------------ rows

    def _names(self) -> list[str]:
        """Sessions by name: one index look-up each, however long the tape is."""
        names: list[str] = []
        last = ""
        while True:
            row = self._one("SELECT min(session) FROM events WHERE session > ?", (last,))
            if row is None or row[0] is None:
                return names
            if row[0] == last or not isinstance(row[0], str):
                raise TapeTampered(f"tape `{self.path}` is damaged: a nameless session", code="tape.damaged")
            last = row[0]
            names.append(last)

    def _session(self, name: str) -> SessionInfo:
        first, last = self._edge(name, "ASC"), self._edge(name, "DESC")
        if last["type"] == "session_end":
            return self._understood(first, metadata.session, last["ended_ms"], last["exchanges"])
        events = self._events(f"{_OF_SESSION} ORDER BY seq", (name,))
        count = sum(1 for event in events if event["type"] == "request")
        return self._understood(first, metadata.session, None, count)

    def _edge(self, session: str, order: str) -> Event:
        """The first (`ASC`) or last (`DESC`) event of a session."""
        for event in self._events(f"{_OF_SESSION} ORDER BY seq {order} LIMIT 1", (session,)):
            return event
        raise TapeTampered(f"tape `{self.path}` is damaged: a session without events", code="tape.damaged")

    def _gathered(self, session: str | None) -> Iterator[EventDecoder]:
        """The events of each exchange, without their bodies; memory holds one session of them."""
        names = [session] if session is not None else [info.name for info in self.sessions()]
        for name in names:
            yield from _numbered(self._read(name)[0])

    def _read(self, session: str) -> tuple[dict[int, EventDecoder], Event | None]:
        """The events of a session by exchange, and its last one; None where it has none."""
        gathered: dict[int, EventDecoder] = {}
        event: Event | None = None
        with self._alone:
            for event in self._events(f"{_OF_SESSION} ORDER BY seq", (session,)):
                number = event.get("exchange")
                if isinstance(number, int):
                    self._understood(event, gathered.setdefault(number, EventDecoder()).add)
        return gathered, event

    def _recorded(self, each: Iterator[EventDecoder]) -> Iterator[Recorded]:
        """The exchanges of one session, by number."""
        numbering = CallNumbering()
        for gathered in each:
            found = self._understood(gathered, decode.decode, self._body, numbering)
            if found is not None:
                yield found

    def _events(self, query: str, arguments: tuple[Any, ...] = ()) -> Iterator[Event]:
        try:
            for seq, session, record, digest in self._open().execute(query, arguments):
                yield self._event(seq, session, record, digest)
        except sqlite3.Error as error:
            raise TapeTampered(f"tape `{self.path}` is damaged: {error}", code="tape.damaged") from error

    def _event(self, seq: int, session: str, record: bytes, digest: bytes) -> Event:
        if not isinstance(record, bytes) or len(record) > MAX_RECORD or leaf(record) != digest:
            raise TapeTampered(f"event {seq} of tape `{self.path}` does not have its hash")
        event = self._understood(record, orjson.loads)
        if not isinstance(event, dict) or event.get("session", "") != session or "type" not in event:
            raise TapeTampered(f"event {seq} of tape `{self.path}` is not what its row says")
        self._understood(event, validate.check)
        return event

    def _blob(self, name: str) -> bytes:
        query = "SELECT size, packed, data FROM blobs WHERE digest = ?"
        key = self._understood(name, bytes.fromhex)
        with self._alone:
            still = self._connection is not None
            row = self._one(query, (key,)) if still else None
        if not still:
            with TapeReader.open(self.path) as again:
                row = again._one(query, (key,))
        if row is None:
            with TapeReader.open(self.path) as again:
                from faultwire.tape.read.erased import without_body

                raise without_body(again._events(_OF_SESSION, ("",)), name, self.path)
        data = unpack(*row)
        if sha256(data).hexdigest() != name:
            raise TapeTampered(f"blob `{name}` of tape `{self.path}` was changed", code="tape.blob_mismatch")
        return data

    def _one(self, query: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return self._open().execute(query, arguments).fetchone()
        except sqlite3.Error as error:
            raise TapeTampered(f"tape `{self.path}` is damaged: {error}", code="tape.damaged") from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise TapeError(f"tape `{self.path}` was closed by its reader", code="tape.closed")
        return self._connection

    def _understood(self, value: Any, read: Callable[..., T], *more: Any) -> T:
        """`read(value, *more)`; what does not have the shape it must have counts as tampered."""
        try:
            return read(value, *more)
        except TapeError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TapeTampered(
                f"tape `{self.path}` holds an event that no tape has: {error!r}", code="tape.record_malformed"
            ) from error


def _numbered(gathered: dict[int, EventDecoder]) -> Iterator[EventDecoder]:
    """Exchanges by number, none held longer than it is wanted."""
    return (gathered.pop(number) for number in sorted(gathered))
