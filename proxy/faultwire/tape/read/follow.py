"""Reading a tape while it is being written: what is new since the last look."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.tape.read import decode, metadata
from faultwire.tape.read.call_identity import CallNumbering
from faultwire.tape.read.decode import EventDecoder
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.read.span import Span

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.tape.format.events import Event
    from faultwire.tape.read.metadata import Note

AT_ONCE = 2_000
"""Events that one look reads."""
_NEW = "SELECT seq, session, record, hash FROM events WHERE seq >= ? ORDER BY seq LIMIT ?"


class News(NamedTuple):
    """What was written since the last look: each exchange that changed, as it is now, in the order of their
    last events; sessions that opened and that ended; notes. `more` says that a further look has more."""

    exchanges: tuple[Recorded, ...]
    spans: tuple[Span, ...]
    """Where each of them is on the tape."""
    opened: tuple[str, ...]
    ended: tuple[str, ...]
    notes: tuple[Note, ...]
    more: bool


class TapeFollower(TapeReader):
    """A reader that gives every exchange as it begins and as it ends, in the order of the tape.

    Equal calls that nobody numbered when they were made are counted in the order in which they ended, which
    for calls that overlap may be another than that in which they began.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._next = 0
        self._version: int | None = None
        self._under_way: dict[tuple[str, int], EventDecoder] = {}
        self._first: dict[tuple[str, int], int] = {}
        self._numbering: dict[str, CallNumbering] = {}

    @property
    def events(self) -> int:
        """Events that have been read."""
        return self._next

    def changed(self) -> bool:
        """Was anything committed since this was asked last? Takes microseconds."""
        version = self._one("PRAGMA data_version", ())[0]
        known, self._version = self._version, version
        return bool(version != known)

    def news(self, most: int = AT_ONCE) -> News:
        """Read on, at most so many events. Raises TapeTampered at a row that is not what was recorded."""
        touched: dict[tuple[str, int], int] = {}
        opened, ended, notes, count = list[str](), list[str](), list[metadata.Note](), 0
        for event in self._events(_NEW, (self._next, most)):
            self._next, count = self._next + 1, count + 1
            if event["type"] == "session_start":
                opened.append(event["session"])
            elif event["type"] == "session_end":
                ended.append(event["session"])
            elif event["type"] == "note":
                notes.append(self._understood(event, metadata.note))
            else:
                self._add(event, touched)
        made = [(one, span) for place, last in touched.items() for one, span in self._made(place, last)]
        for session in ended:
            self._numbering.pop(session, None)  # who was given its exchanges has it as long as they need it
        exchanges, spans = tuple(one for one, _ in made), tuple(span for _, span in made)
        return News(exchanges, spans, tuple(opened), tuple(ended), tuple(notes), count == most)

    def _add(self, event: Event, touched: dict[tuple[str, int], int]) -> None:
        number = event.get("exchange")
        if not isinstance(number, int):
            return
        place = (event["session"], number)
        gathered = self._under_way.setdefault(place, EventDecoder())
        self._first.setdefault(place, self._next - 1)
        self._understood(event, gathered.add)
        if event["type"] in ("request", "response", "message", "end"):
            touched.pop(place, None)
            touched[place] = self._next - 1
        elif place in touched:
            touched[place] = self._next - 1

    def _made(self, place: tuple[str, int], last: int) -> Iterator[tuple[Recorded, Span]]:
        gathered, span = self._under_way[place], Span(*place, self._first[place], last)
        over = gathered.end is not None
        numbering = self._numbering.setdefault(place[0], CallNumbering()) if over else CallNumbering()
        if over:
            del self._under_way[place], self._first[place]
        made = self._understood(gathered, decode.decode, self._body, numbering)
        if made is not None:
            yield made, span
