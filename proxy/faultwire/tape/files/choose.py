"""A tape that answers as one of two recorded runs did, exchange by exchange: chosen from both, in one
session.

A replay reads one session. So the chosen exchanges of the second tape go to the end of the first one's
session, with numbers of their own. Their place does not matter to a replay, which looks for what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.tape.files.copy import Copy

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.tape.format.events import Event


@dataclass(frozen=True, slots=True)
class Source:
    """Exchanges of one session of a tape, by their numbers."""

    tape: Path
    session: str
    numbers: frozenset[int]


class _Chosen(Copy):
    """The exchanges of two sources under the session of the first."""

    def __init__(self, target: Path, first: Source, second: Source) -> None:
        super().__init__(target, "choose", "faultwire/chosen")
        self._sources = [first, second]
        self._turn = -1
        self._last = max(first.numbers, default=0)
        self._numbers = {number: self._last + n for n, number in enumerate(sorted(second.numbers), 1)}
        self._end: Event | None = None

    def _one(self, draft: sqlite3.Connection, source: Path, keep: Callable[[Event], bool]) -> set[str]:
        self._turn += 1
        names = super()._one(draft, source, self._is_chosen)
        if self._turn == 1 and self._end is not None:
            self._end["exchanges"] = sum(len(one.numbers) for one in self._sources)
            self._add(self._end)
        return names

    def _is_chosen(self, event: Event) -> bool:
        source = self._sources[self._turn]
        if event.get("session") != source.session:
            return False
        if "exchange" in event:
            return event["exchange"] in source.numbers
        if event["type"] == "session_end" and self._turn == 0:
            for member in ("seq", "prev"):
                event.pop(member)
            self._end = event
            return False
        return self._turn == 0

    def _place(self, event: Event, names: dict[str, str]) -> None:
        event["session"] = self._sources[0].session
        if self._turn == 1:
            event["exchange"] = self._numbers[event["exchange"]]


def choose(first: Source, second: Source, target: Path) -> None:
    """Write the tape. Raises TapeTampered where a source does not verify, TapeError where it cannot be
    written, UsageError where it exists."""
    _Chosen(target, first, second).make([first.tape, second.tape], lambda _event: True, None)
