"""Several engines of one run: each session is placed on one of them, and stays there."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultwireError
from faultwire.mitm.settings import engine_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Bypass
    from faultwire.mitm.engine.client import Engine, SessionHandle, SessionSummary
    from faultwire.replay.settings import SessionAnswers


class EnginePool:
    """The engines of a run, one or several. May be used from several threads.

    A session is placed on the engine with the fewest open ones. A session that comes by a shared user
    (`via`) goes where that user is: on the first engine, which also has the address that was asked for.
    Once an engine has ended by itself no session is opened on any: a run that lost part of its evidence does
    not go on to a score.
    """

    def __init__(self, engines: Sequence[Engine]) -> None:
        self.engines = tuple(engines)
        self._placed: dict[str, int] = {}
        self._open: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._retired: set[int] = set()

    def open_session(
        self,
        name: str,
        profile: dict[str, Any],
        seed: int,
        *,
        via: str = "",
        dice: str = "",
        answers: SessionAnswers | None = None,
    ) -> SessionHandle:
        """Open a session on one of them, as `Engine.open_session` does. Raises FaultwireError."""
        lost = self.lost()
        if lost is not None:
            raise lost
        number = self._place(name, first=bool(via))
        try:
            return self.engines[number].open_session(name, profile, seed, via=via, dice=dice, answers=answers)
        except BaseException:
            self._leave(number)
            raise

    def share(self, name: str, *, unnamed: bool = False) -> SessionHandle:
        """Open a user that several sessions share, on the first engine."""
        return self.engines[0].share(name, unnamed=unnamed)

    def close_session(self, name: str, seen: Sequence[Bypass] = (), more: int = 0) -> SessionSummary:
        """Close a session where it is. Raises FaultwireError."""
        number = self.number_of(name)
        try:
            return self.engines[number].close_session(name, seen, more)
        finally:
            self._leave(number)

    def number_of(self, name: str) -> int:
        """The engine of a session, open or closed, counted from 0; the first one's where it was not opened
        here, as the session of traffic that names none."""
        return self._placed.get(name, 0)

    def found(self, name: str, number: int) -> None:
        """A session was opened by its client, on engine `number`, from 0."""
        with self._lock:
            if name not in self._placed:
                self._placed[name] = number
                self._open[number] += 1

    def retire(self, number: int) -> None:
        """Engine `number`, from 0, was drained: that it has ended is no loss."""
        self._retired.add(number)

    @property
    def kept(self) -> list[Engine]:
        """Those that were not drained, whether they live or not."""
        return [one for number, one in enumerate(self.engines) if number not in self._retired]

    @property
    def alive(self) -> list[tuple[int, Engine]]:
        """Those that have not ended, with their numbers from 0."""
        pairs = enumerate(self.engines)
        return [
            (number, one) for number, one in pairs if number not in self._retired and one.exit_code is None
        ]

    @property
    def ended(self) -> list[int]:
        """Those that have ended by themselves, with their numbers from 1."""
        pairs = enumerate(self.engines, 1)
        return [
            number for number, one in pairs if number - 1 not in self._retired and one.exit_code is not None
        ]

    def notes(self) -> tuple[str, ...]:
        """What traffic there was that belongs to no session, in words, at any of them."""
        return tuple(dict.fromkeys(note for _, engine in self.alive for note in engine.notes()))

    def lost(self) -> FaultwireError | None:
        """Which engine of several has ended by itself; None where none has, and where there is but one:
        whoever calls that one hears it."""
        if len(self.engines) == 1:
            return None
        for number, engine in enumerate(self.engines, 1):
            code = engine.exit_code
            if code is not None and number - 1 not in self._retired:
                return FaultwireError(
                    f"engine {number} of {len(self.engines)} ended with code `{code}`",
                    code="engine.lost",
                    hint=f"its log is `{engine_file('engine.log', number)}` in the run folder; "
                    "what the engines recorded is in `tapes` there",
                )
        return None

    def _place(self, name: str, *, first: bool) -> int:
        with self._lock:
            number = 0 if first else min(range(len(self.engines)), key=lambda one: self._open[one])
            self._open[number] += 1
            self._placed[name] = number
        return number

    def _leave(self, number: int) -> None:
        with self._lock:
            self._open[number] -= 1
