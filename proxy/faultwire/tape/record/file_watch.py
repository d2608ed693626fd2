"""Notices that somebody removes or replaces the files that a tape is being written to.

SQLite goes on with a file that has lost its name: every commit succeeds, and nothing of it can be read again.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from faultwire.errors import TapeError
from faultwire.tape.format.file import connect_reader

if TYPE_CHECKING:
    from pathlib import Path


class FileWatch:
    """The tape at `path` and its write-ahead log, as they were when they were first looked at."""

    def __init__(self, path: Path) -> None:
        self._places = {"tape": os.fspath(path), "write-ahead log": f"{path}-wal"}
        self._seen: dict[str, tuple[int, int]] = {}
        self._sizes: dict[str, int] = {}
        self._path = path
        self.check()

    def check(self) -> None:
        """Look again, some microseconds. Raises OSError where a file is gone, another one, or shorter."""
        for what, place in self._places.items():
            known = self._seen.get(what)
            try:
                found = os.lstat(place)
            except FileNotFoundError:
                if known is None:
                    continue  # a file system on which SQLite uses no such log
                raise OSError(f"its {what} was removed while it was written") from None
            identity = found.st_dev, found.st_ino
            if known is not None and known != identity:
                raise OSError(f"its {what} was replaced while it was written")
            if found.st_size < self._sizes.get(what, 0):
                raise OSError(f"its {what} was cut short while it was written")
            self._seen[what], self._sizes[what] = identity, found.st_size

    def read_back(self, last: tuple[int, str]) -> None:
        """Look for the number and hash of the last event where every reader looks. Raises OSError."""
        try:
            with closing(connect_reader(self._path)) as reader:
                row = reader.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        except TapeError as error:
            raise OSError(f"it cannot be read again: {error.message}") from error
        if row is None or (row[0], row[1].hex()) != last:
            raise OSError("its last commit cannot be read again")
