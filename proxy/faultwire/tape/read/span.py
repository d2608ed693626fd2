"""Reading single exchanges of a tape by the place of their events, however long the tape is."""

from __future__ import annotations

from typing import NamedTuple

from faultwire.errors import TapeIncomplete
from faultwire.tape.read import decode
from faultwire.tape.read.call_identity import CallNumbering, NumberedCall
from faultwire.tape.read.decode import EventDecoder
from faultwire.tape.read.reader import Detail, TapeReader

_OF_SPAN = (
    "SELECT seq, session, record, hash FROM events WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq"
)


class Span(NamedTuple):
    """An exchange, its first and its last event so far, and how many calls with its key came before it in
    its session; None where that is not known."""

    session: str
    number: int
    first: int
    last: int
    n: int | None = None


class SpanReader(TapeReader):
    """A reader of single exchanges. May be asked by several threads."""

    def at(self, span: Span) -> Detail:
        """The exchange with all that is known of it up to its last event. Reads the events of its session
        between its first and its last. Raises TapeTampered, and TapeIncomplete where it is not there."""
        gathered = EventDecoder()
        with self._alone:
            for event in self._events(_OF_SPAN, (span.session, span.first, span.last)):
                if event.get("exchange") == span.number:
                    self._understood(event, gathered.add)
        numbers = CallNumbering() if span.n is None else NumberedCall(span.n)
        found = self._understood(gathered, decode.decode, self._body, numbers)
        if found is None:
            raise TapeIncomplete(
                f"session `{span.session}` on tape `{self.path}` has no exchange {span.number}",
                code="tape.no_exchange",
            )
        return Detail(found, self._understood(gathered, decode.forwarded, self._body), gathered.redactions)
