"""Admits sessions to a shared agent process, alone or together.

A fault on connections acts before a request says whose it is, so that a session with one has the process
to itself.
"""

from __future__ import annotations

import threading


class Turnstile:
    """Lets sessions in, many together or one alone, in the order in which they came as far as that goes.

    Used from several threads.
    """

    def __init__(self) -> None:
        self._inside: set[str] = set()
        self._alone = False
        self._waiting = 0
        """Sessions that want to be alone: nobody overtakes them, or they would wait for ever."""
        self._changed = threading.Condition()

    def enter(self, name: str, *, alone: bool) -> None:
        """Wait for the turn of a session."""
        with self._changed:
            if alone:
                self._waiting += 1
                self._changed.wait_for(lambda: not self._inside)
                self._waiting -= 1
            else:
                self._changed.wait_for(lambda: not (self._alone or self._waiting))
            self._inside.add(name)
            self._alone = alone

    def leave(self, name: str) -> None:
        """A session is over, or was never opened."""
        with self._changed:
            if name in self._inside:
                self._inside.discard(name)
                self._alone = False
                self._changed.notify_all()
