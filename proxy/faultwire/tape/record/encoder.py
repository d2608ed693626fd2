"""Turns what recordings hold into events and blobs. Runs on the writer thread.

A recording is looked at each time it has something new: its request, its response heads, the part
of its bodies that is safe to release, and its end. A response that came whole between two looks
becomes one event; of a longer one each look adds a `stream_chunk`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire.tape.format import events as tape_events
from faultwire.tape.format.arrivals import arrival_members
from faultwire.tape.record import kept_members
from faultwire.tape.record.body import Body, untouched
from faultwire.tape.record.event_log import Ledger
from faultwire.tape.record.overload_policy import BEHIND
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.messages import WaitingMessages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Message, Request, Response
    from faultwire.tape.evidence.sealer import Sealer
    from faultwire.tape.format.events import Event
    from faultwire.tape.record.body_cipher import BodyCipher
    from faultwire.tape.record.event_log import EventLog
    from faultwire.tape.record.recorder import Mark, Recording
    from faultwire.tape.redact.redactor import Redactor


@dataclass(slots=True)
class LoggedSoFar:
    """How much of a recording is already in the log."""

    request: bool = False
    sent: bool = False
    upstream: bool = False
    delivered: bool = False
    heads: dict[str, Head] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    messages: WaitingMessages | None = None


class EventEncoder:
    """Writes recordings into an event log."""

    def __init__(self, log: EventLog, redactor: Redactor, cipher: BodyCipher | None = None) -> None:
        self._log = log
        self._cipher = cipher
        self._redactor = redactor
        self._ledger = Ledger(redactor)
        self._open: set[str] = set()
        self._closed: set[str] = set()

    def write(self, recording: Recording) -> tuple[bool, int]:
        """Write what is new; whether the exchange has ended, and the bytes consumed.

        Nothing is written of a session that has ended: what was on its way stays open on the tape.
        A recording that ends between its being picked and being looked at waits here once more after its
        end has been written.
        """
        recording.picked()
        if recording.written or recording.exchange.session in self._closed:
            return False, recording.forget()
        # The end is read first: what came before it is then certainly in the lists.
        ending = recording.ending
        recording.written = ending is not None
        logged: LoggedSoFar = recording.state or LoggedSoFar()
        recording.state = logged
        size = self._requests(recording, logged)
        size += self._responses(recording, logged, final=ending is not None)
        size += self._messages(recording, logged, final=ending is not None)
        if recording.trailing and logged.request:
            self._trailers(recording, logged)
        if ending is None:
            return False, size
        if recording.lost:
            exchange = recording.exchange
            self._log.append(tape_events.drop(exchange.session, exchange.number, BEHIND))
            return True, size + recording.forget()
        ended_ns, how, error, faults = ending
        if error is not None:
            error = self._redactor.error(error, logged.counts)
        if faults:
            event, clean = self._ledger.event(recording.exchange, faults)
            self._log.append(event, logged.counts, clean=clean)
        if logged.counts:
            self._log.append(tape_events.redaction(recording.exchange, logged.counts))
        touched = recording.touched_at is not None
        end = tape_events.end(recording.exchange, how, error, touched, ended_ns, recording.got_head)
        self._log.append(end)
        return True, size

    def note(self, event: Event) -> None:
        """Write an event that belongs to no recording."""
        if event.get("session") in self._closed:
            return
        self._log.append(event)
        if event["type"] == "session_start":
            self._open.add(event["session"])
        elif event["type"] == "session_end":
            self._open.discard(event["session"])
            self._closed.add(event["session"])
            if self._cipher is not None:
                self._cipher.forget(event["session"])

    @property
    def has_open_session(self) -> bool:
        """Has one begun and not ended?"""
        return bool(self._open)

    def foreign(self, event: Event, data: bytes) -> None:
        """Write an event of somebody else's log, with the JSON text `data` that it was."""
        if event.get("session") in self._closed:
            return
        counts: dict[str, int] = {}
        body = Body(self._redactor, Head((), "application/json"), counts)
        replaced = kept_members.hidden(data, event["session"])
        body.add(((0, data if replaced is None else replaced),))
        clean, _ = body.release(final=True)
        if replaced is not None:
            clean = kept_members.shown(clean)
        self._log.append({**event, "body": self._body(event["session"], clean)}, counts)

    def seal(self, sealer: Sealer) -> None:
        """Sign all that was written so far."""
        self._log.seal(sealer)

    # ------------------------------------------------------------ requests

    def _requests(self, recording: Recording, logged: LoggedSoFar) -> int:
        size = 0
        if recording.received is not None and not logged.request:
            logged.request = True
            request = recording.received
            clean, pieces = self._request(recording.exchange.session, request, logged, "request")
            body = pieces[0] if len(pieces) == 1 else None
            event = tape_events.request(recording.exchange, clean, body, recording.started_ms)
            event["key"] = self._redactor.keyed(event["key"])
            if recording.http2:
                event["http"] = "2"
            event |= arrival_members(recording.arrival)
            self._log.append(event, logged.counts)
            self._more(recording, logged, "request", pieces if body is None else ())
            size += len(request.body or b"")
        if recording.sent_body and logged.request:
            size += self._take(logged, "request", recording.sent_body)
            self._release(recording, logged, "request", final=False)
        if recording.sent is not None and not logged.sent:
            logged.sent = True
            request = recording.sent
            clean, pieces = self._request(recording.exchange.session, request, logged, "forwarded")
            body = pieces[0] if len(pieces) == 1 else None
            self._log.append(tape_events.forwarded(recording.exchange, clean, body), logged.counts)
            self._more(recording, logged, "forwarded", pieces if body is None else ())
            size += len(request.body or b"")
        return size

    def _request(
        self, session: str, request: Request, logged: LoggedSoFar, side: str
    ) -> tuple[Request, list[Event]]:
        """The clean head, and the body: of one piece as a rule."""
        head = logged.heads[side] = self._redactor.head(request.headers, logged.counts)
        path = self._redactor.path(request.path, logged.counts, request.host)
        clean = replace(request, path=path, headers=head.headers, body=None)
        if request.body is None:
            return clean, []
        data = untouched(self._redactor, head, (request.body,))
        if data is not None:
            return clean, [self._body(session, data)]
        body = Body(self._redactor, head, logged.counts)
        body.add(((0, request.body),))
        pieces = body.pieces(final=True) or [(b"", [])]
        whole = len(pieces) == 1
        return clean, [
            self._body(session, data, None if whole else chunks, body.dropped) for data, chunks in pieces
        ]

    # ------------------------------------------------------------ responses

    def _responses(self, recording: Recording, logged: LoggedSoFar, *, final: bool) -> int:
        size = 0
        if recording.upstream is not None:
            head = None if logged.upstream else recording.upstream
            logged.upstream = True
            size += self._side(recording, logged, "upstream", head, recording.up, final=final)
        if recording.touched_at is not None or recording.delivered is not None:
            head = None if logged.delivered else recording.delivered
            logged.delivered = logged.delivered or head is not None
            size += self._side(recording, logged, "delivered", head, recording.down, final=final)
        if final and "request" in logged.bodies:
            self._release(recording, logged, "request", final=True)
        return size

    def _side(
        self,
        recording: Recording,
        logged: LoggedSoFar,
        side: str,
        head: tuple[int, Response] | None,
        marks: list[Mark],
        *,
        final: bool,
    ) -> int:
        size = 0
        if head is not None:
            more: list[Event] = []
            at_ns, response = head
            clean = logged.heads[side] = self._redactor.head(response.headers, logged.counts)
            event = tape_events.response(recording.exchange, side, response, clean.headers, at_ns)
            if final:
                size, more = self._all(recording, logged, side, marks)
                event["body"] = more.pop(0) if more else None
            self._log.append(event, logged.counts)
            self._more(recording, logged, side, more)
        size += self._take(logged, side, marks)
        self._release(recording, logged, side, final=final)
        return size

    def _trailers(self, recording: Recording, logged: LoggedSoFar) -> None:
        while recording.trailing:
            side, at_ns, headers = recording.trailing.pop(0)
            clean = self._redactor.head(headers, logged.counts).headers
            self._log.append(tape_events.trailers(recording.exchange, side, clean, at_ns), logged.counts)

    def _messages(self, recording: Recording, logged: LoggedSoFar, *, final: bool) -> int:
        """Each is looked through by itself, and then with those around it."""
        count = len(recording.messages)
        if logged.messages is None:
            if not count:
                return 0
            logged.messages = WaitingMessages(self._redactor, logged.counts)
        size = 0
        for message in recording.messages[:count]:
            size += len(message.data)
            logged.messages.add(message)
            # After each: what has come since the last look may be many times what may wait.
            self._keep(recording, logged, logged.messages.release(final=False))
        del recording.messages[:count]
        self._keep(recording, logged, logged.messages.release(final=final))
        return size

    def _keep(self, recording: Recording, logged: LoggedSoFar, messages: list[tuple[Message, bytes]]) -> None:
        for message, data in messages:
            stored = self._body(recording.exchange.session, data)
            self._log.append(tape_events.message(recording.exchange, message, stored), logged.counts)

    # ------------------------------------------------------------ bodies

    def _body(
        self, session: str, data: bytes, chunks: tape_events.Chunks | None = None, dropped: int = 0
    ) -> Event:
        """Keep a piece of a body; what its event says of it."""
        more: Event = {}
        if self._cipher is not None:
            data, more = self._cipher.stored(session, data)
        return tape_events.body(self._log.put(data), len(data), chunks, dropped) | more

    def _all(
        self, recording: Recording, logged: LoggedSoFar, side: str, marks: list[Mark]
    ) -> tuple[int, list[Event]]:
        """All of a body that has come whole: its size, and its pieces."""
        count = len(marks)
        if count and side not in logged.bodies:
            data = untouched(self._redactor, logged.heads[side], [part for _, part in marks[:count]])
            if data is not None:
                chunks = [(len(part), at_ns) for at_ns, part in marks[:count]]
                del marks[:count]
                return len(data), [self._body(recording.exchange.session, data, chunks)]
        return self._take(logged, side, marks), self._pieces(recording, logged, side, final=True)

    def _take(self, logged: LoggedSoFar, side: str, marks: list[Mark]) -> int:
        """Move new chunks from the recording into the body that gathers them."""
        count = len(marks)
        if not count:
            return 0
        body = logged.bodies.get(side)
        if body is None:
            # What is delivered without a head of its own has upstream's.
            head = logged.heads.get(side) or logged.heads.get("upstream") or Head(())
            body = logged.bodies[side] = Body(self._redactor, head, logged.counts)
        size = body.add(marks[:count])
        del marks[:count]
        return size

    def _release(self, recording: Recording, logged: LoggedSoFar, side: str, *, final: bool) -> None:
        self._more(recording, logged, side, self._pieces(recording, logged, side, final=final))

    def _more(self, recording: Recording, logged: LoggedSoFar, side: str, pieces: Sequence[Event]) -> None:
        for piece in pieces:
            self._log.append(tape_events.stream_chunk(recording.exchange, side, piece), logged.counts)

    def _pieces(self, recording: Recording, logged: LoggedSoFar, side: str, *, final: bool) -> list[Event]:
        body = logged.bodies.get(side)
        if body is None:
            return []
        dropped = body.dropped if final else 0
        return [
            self._body(recording.exchange.session, data, chunks, dropped)
            for data, chunks in body.pieces(final=final)
        ]
