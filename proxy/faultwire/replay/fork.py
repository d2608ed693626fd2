"""A replay that leaves its tape at one exchange: what came before is recorded, what comes after is new.

The exchanges before it must come as they were recorded. That one gets another answer, none, or a fault.
Then the servers, the mock provider or still the tape answer; the same call again, as an SDK makes it after
an error, is a call after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.replay.answer import with_answer
from faultwire.replay.match import Missed
from faultwire.replay.player import Player

if TYPE_CHECKING:
    from faultwire.events import Recorded, Request
    from faultwire.replay.answer import Answer
    from faultwire.replay.explain_miss import Divergence
    from faultwire.replay.match import Entry, Index
    from faultwire.replay.rebind import Rebinder
    from faultwire.replay.settings import ForkSettings
    from faultwire.tape.redact.redactor import Redactor


class Forked(Player):
    """The answers of a tape up to a fork, and the answer given there. `arrive` finds that exchange."""

    def __init__(
        self, index: Index, redactor: Redactor, rebinder: Rebinder | None, settings: ForkSettings
    ) -> None:
        super().__init__(index, redactor, rebinder)
        self._settings = settings
        self._arrived: dict[int, tuple[Request, Entry | Missed]] = {}
        self._reached: int | None = None
        self._onward = 0

    @property
    def _leaves(self) -> bool:
        """Does anybody else than the tape answer what comes after the fork?"""
        return self._settings.tail != "tape"

    def arrive(self, request: Request, number: int) -> bool:
        """Find what is recorded for a whole request; True where it is the one that is forked, and a fault
        is to act on it."""
        found = self._take(request)
        self._arrived[number] = request, found
        if self._reached is None and not isinstance(found, Missed):
            self._reached = number if found.recorded.number == self._settings.at else None
        return self._settings.fault and self._reached == number

    def play(self, request: Request, number: int = 0) -> Answer | Divergence | None:
        """The answer that was recorded or given, why there is none, or None for one who comes after."""
        asked, found = self._asked(request, number)
        if isinstance(found, Missed):
            if self._reached is None or not self._leaves:
                return self._diverge(found, number)
            self._onward += 1
            return None
        forked, after = self._reached == number, found.recorded.number > self._settings.at
        # Where the fault asks something else, only somebody who knows more than the tape can answer.
        changed = asked.body != request.body or asked.path != request.path
        if self._leaves and (after or (changed and forked)):
            self._onward += 1
            return None
        if not forked:
            return self._serve(found.recorded)
        return super().play(request, number) if changed else self._forked(found)

    def _asked(self, request: Request, number: int) -> tuple[Request, Entry | Missed]:
        known = self._arrived.pop(number, None)
        return known if known is not None else (request, self._take(request))

    def _forked(self, entry: Entry) -> Answer:
        settings, recorded = self._settings, entry.recorded
        if settings.fault:
            received = recorded.upstream or recorded.delivered
            return self._serve(
                replace(recorded, delivered=received, ending="complete" if received else "reset")
            )
        if settings.drop:
            if not self._leaves:
                self._index.give_back(entry)
            return self._serve(replace(recorded, upstream=None, delivered=None, ending="cut"), given=True)
        return self._serve(self._given(recorded), given=True)

    def _given(self, recorded: Recorded) -> Recorded:
        assert self._settings.answer is not None
        return with_answer(recorded, self._settings.answer)

    def pass_over(self, request: Request, number: int = 0) -> None:
        """A fault answered in place of the recorded answer."""
        _, found = self._asked(request, number)
        if isinstance(found, Missed):
            return
        if not (self._reached == number and self._leaves):
            self._index.give_back(found)

    @property
    def _left(self) -> list[Entry]:
        left = super()._left
        return (
            [entry for entry in left if entry.recorded.number <= self._settings.at] if self._leaves else left
        )

    def report(self) -> dict[str, Any]:
        """What was served and what was not, and what became of the fork."""
        settings = self._settings
        fork = {
            "at": f"{settings.session}#{settings.at}",
            "reached": self._reached,
            "tail": settings.tail,
            "onward": self._onward,
        }
        return {**super().report(), "exact": False, "fork": fork}
