"""Histories of one run's sessions, read from its tape while it grows.

Opening a tape means to look whether it is one, which costs more than to read the few events of a cell. So
what was opened for one history is kept for the next; rows are held against their hashes all the same.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.events import History
    from faultwire.tape.read.reader import TapeReader


class Histories:
    """Used from several threads: there are as many readers as histories that are read at the same time."""

    def __init__(self, tape: Path) -> None:
        self._tape = tape
        self._idle: deque[TapeReader] = deque()

    def read(self, name: str) -> History:
        """The traffic of a closed session. Raises TapeError."""
        reader = self._reader()
        try:
            return reader.history(name)
        finally:
            self._idle.append(reader)

    def _reader(self) -> TapeReader:
        from faultwire.tape.read.reader import TapeReader

        with suppress(IndexError):
            return self._idle.pop()
        return TapeReader.open(self._tape)

    def close(self) -> None:
        """Let the tape go, or its writer could not fold its log into it. A body that is asked for after this
        has the tape opened for as long as that takes; so has a history."""
        with suppress(IndexError):
            while True:
                self._idle.pop().close()
