"""A proxy whose clients name their sessions, served by one engine or several at one address.

Clients open sessions, so that whoever ends the proxy asks each engine which there are. An engine that is
drained has its sessions closed and its tape verified while the others go on.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from faultwire.errors import FaultwireError
from faultwire.history import History
from faultwire.runner import closed_tape
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.mitm.engine.spreader import Spreader
    from faultwire.runner.started_run import Run


class SharedProxy:
    """The sessions and engines of one such proxy; `spreader` where there are several engines."""

    def __init__(self, run: Run, spreader: Spreader | None) -> None:
        self._run, self._spreader = run, spreader
        self._closed: list[SessionSummary] = []
        self._drained: list[int] = []
        self._failed: list[FaultwireError] = []
        self._enders: list[threading.Thread] = []
        if spreader is not None:
            spreader.drained = self._end_in_background

    def close(self) -> list[SessionSummary]:
        """Close every session on every engine that lives; all that were ever closed. Raises FaultwireError
        where an engine was lost, or one could not be drained."""
        for thread in self._enders:
            thread.join()
        for number, _ in self._run.engines.alive:
            self._close_on(number)
        lost = self._run.engines.lost()
        if lost is not None:
            raise lost
        if self._failed:
            raise self._failed[0]
        return list(self._closed)

    @property
    def voids(self) -> list[str]:
        """Why the run proves nothing, besides what its sessions say."""
        count = self._spreader.turned_away if self._spreader is not None else 0
        if not count:
            return []
        return [f"{counted(count, 'connection')} of sessions whose engine was drained got a 503"]

    @property
    def live(self) -> int:
        """Exchanges in flight, on all engines."""
        return sum(int(engine.stats()["live"]) for _, engine in self._run.engines.alive)

    def history(self) -> History:
        """The traffic of all its sessions that are closed."""
        names = [one.name for one in self._closed]
        every = tuple(one for name in names for one in self._run.history(name).exchanges)
        return History("proxy", every)

    def _close_on(self, number: int) -> None:
        for name in self._run.engines.engines[number].stats()["sessions"]:
            self._run.engines.found(name, number)
            self._closed.append(self._run.close_session(name))

    def _end_in_background(self, number: int) -> None:
        thread = threading.Thread(target=self._end, args=(number - 1,), name=f"drain {number}")
        self._enders.append(thread)
        thread.start()

    def _end(self, number: int) -> None:
        """Close what a drained engine has, end it, and verify its tape."""
        try:
            self._close_on(number)
            self._run.engines.retire(number)
            self._run.engines.engines[number].stop()
            closed_tape.check(self._run.tapes[number])
        except FaultwireError as error:
            self._failed.append(error)
            self._run.folder.note(drain_failed={str(number + 1): error.message})
            return
        self._drained.append(number + 1)
        self._run.folder.note(drained=list(self._drained))
