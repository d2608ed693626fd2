"""A tape that a later run added to: what that run recorded, and what it did not ask of the tape before.

A replay reads one session. So what was left of the tape before goes to the end of the new one's session,
with numbers of its own, and answers there in the order in which it was recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.tape.copy import Copy
from faultwire.tape.read import TapeReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from faultwire.tape.note import SignerKey
    from faultwire.tape.records import Event

_OF_SESSION = ("session_start", "session_end")


class Grown(Copy):
    """`new`, whose session `session` goes on with the exchanges of `old` that are in `unasked`."""

    def __init__(
        self, target: Path, new: Path, old: Path, session: str, unasked: Mapping[str, Sequence[int]]
    ) -> None:
        with TapeReader.open(new) as reader:
            about = reader.info()
        with TapeReader.open(old) as reader:
            names = {info.name for info in reader.sessions()}
        super().__init__(target, "replay", about.origin)
        self._said = about.settings
        self._new, self._session = new, session
        self._asked = {session} if session in names else names
        """The old tape's sessions that answered; others stay as they are."""
        self._unasked = [(name, number) for name, numbers in unasked.items() for number in numbers]
        self._goes_on = False
        """Is it the old tape's turn?"""
        self._numbers: dict[tuple[str, int], int] = {}
        self._last = 0
        self._end: Event | None = None

    def _one(self, draft: sqlite3.Connection, source: Path, keep: Callable[[Event], bool]) -> set[str]:
        if source == self._new:
            return super()._one(draft, source, self._is_new)
        self._goes_on = True
        self._numbers = {one: self._last + n for n, one in enumerate(self._unasked, start=1)}
        names = super()._one(draft, source, self._is_left)
        if self._end is not None:
            self._end["exchanges"] += len(self._numbers)
            self._log.append(self._end)
        return names

    def _is_new(self, event: Event) -> bool:
        """All of the new tape; its session ends only after what is left of the old one."""
        if event.get("session") != self._session:
            return True
        self._last = max(self._last, event.get("exchange", 0))
        if event["type"] != "session_end":
            return True
        self._end = event
        return False

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


def grow(
    target: Path,
    *,
    new: Path,
    old: Path,
    session: str,
    unasked: Mapping[str, Sequence[int]],
    signer: SignerKey | None,
) -> None:
    """Write all of `new`, with what `unasked` names of `old`, by session and number; sealed where there is a
    signer.

    Raises TapeTampered where one of them does not verify, UsageError where the target exists, TapeError where
    it cannot be written.
    """
    Grown(target, new, old, session, unasked).make([new, old], lambda _event: True, signer)
