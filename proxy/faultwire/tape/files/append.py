"""A tape that a later run added to: what that run recorded, and what it did not ask of the tape before.

A replay reads one session. So what was left of the tape before goes to the end of the new one's session,
with numbers of its own, and answers there in the order in which it was recorded. What a fault of the later
run made of a recorded answer is not what the tape is to say from now on: there the old exchange stays.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.tape.files.copy import Copy
from faultwire.tape.format import file
from faultwire.tape.format.validate import event_of
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.format.events import Event

_OF_SESSION = ("session_start", "session_end")
Name = tuple[str, int]
"""An exchange's session and number."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the later run made of the tape before: the exchanges that it did not ask, in their order, and
    those that answered its own, by their numbers."""

    unasked: Sequence[Name]
    answered: Mapping[int, Name]


class Appended(Copy):
    """`new`, whose session `session` goes on with the exchanges of `old` that it did not ask."""

    def __init__(self, target: Path, new: Path, old: Path, session: str, replayed: Replayed) -> None:
        with TapeReader.open(new) as reader:
            about = reader.info()
            faulted = dict(_faulted(reader, session))
        with TapeReader.open(old) as reader:
            names = {info.name for info in reader.sessions()}
        super().__init__(target, "replay", about.origin)
        self._settings = about.settings
        self._new, self._old, self._session = new, old, session
        self._asked = {session} if session in names else names
        """The old tape's sessions that answered; others stay as they are."""
        self._restored = {number: replayed.answered.get(number) for number in faulted}
        """Exchanges of the new tape that the old one's stand for; None where a fault made up the answer of a
        call that no server was asked."""
        for number in [n for n, one in self._restored.items() if one is None and faulted[n]]:
            del self._restored[number]  # its server answered
        self._unasked = list(replayed.unasked)
        self._goes_on = False
        """Is it the old tape's turn?"""
        self._numbers: dict[Name, int] = {}
        self._last = 0
        self._end: Event | None = None

    def _one(self, draft: sqlite3.Connection, source: Path, keep: Callable[[Event], bool]) -> set[str]:
        if source == self._new:
            return super()._one(draft, source, self._is_new)
        self._goes_on = True
        self._numbers = {one: self._last + n for n, one in enumerate(self._unasked, start=1)}
        names = super()._one(draft, source, self._is_left)
        if self._end is not None:
            made_up = sum(one is None for one in self._restored.values())
            self._end["exchanges"] += len(self._numbers) - made_up
            self._add(self._end)
        return names

    def _is_new(self, event: Event) -> bool:
        """All of the new tape but what a fault made up; its session ends only after what is left of the old
        one."""
        if event.get("session") != self._session:
            return True
        number = event.get("exchange", 0)
        self._last = max(self._last, number)
        if number in self._restored:
            return event["type"] == "request" and self._restored[number] is not None
        if event["type"] != "session_end":
            return True
        self._end = event
        return False

    def _event(self, connection: sqlite3.Connection, event: Event) -> None:
        restored = None if self._goes_on else self._restored.get(event.get("exchange", 0))
        if restored is None or event.get("session") != self._session:
            super()._event(connection, event)
            return
        with closing(file.connect_reader(self._old)) as old:
            for one in _of(old, self._old, restored):
                super()._event(old, {**one, "session": self._session, "exchange": event["exchange"]})

    def _is_left(self, event: Event) -> bool:
        """Of the old tape what is no exchange that was asked."""
        if event.get("session") not in self._asked:
            return True
        if "exchange" in event:
            return (event["session"], event["exchange"]) in self._numbers
        return event["type"] not in _OF_SESSION

    def _place(self, event: Event, names: dict[str, str]) -> None:
        if not self._goes_on or event.get("session") not in self._asked:
            super()._place(event, names)
            return
        if "exchange" in event:
            event["exchange"] = self._numbers[event["session"], event["exchange"]]
        event["session"] = self._session


def _faulted(reader: TapeReader, session: str) -> Iterator[tuple[int, bool]]:
    """The numbers of exchanges that a fault acted on, and whether their servers answered."""
    for exchange in reader.exchanges(session):
        if any(line.outcome == "fired" for line in exchange.faults):
            yield exchange.number, exchange.upstream is not None


def _of(connection: sqlite3.Connection, path: Path, exchange: Name) -> Iterator[Event]:
    """The events of one exchange."""
    for seq, _, record, _ in file.event_rows(connection, "WHERE session = ?", (exchange[0],)):
        event = event_of(record, path, seq)
        if event.get("exchange") == exchange[1]:
            yield event


def append(
    target: Path, *, new: Path, old: Path, session: str, replayed: Replayed, signer: SignerKey | None
) -> None:
    """Write all of `new`, with what it left of `old`; sealed where there is a signer.

    Raises TapeTampered where one of them does not verify, UsageError where the target exists, TapeError where
    it cannot be written.
    """
    Appended(target, new, old, session, replayed).make([new, old], lambda _event: True, signer)
