"""The state file of a search: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.explore.made import Made
from faultwire.trials.state_file import StateFile

if TYPE_CHECKING:
    from pathlib import Path


class Journal:
    """An open state file; `earlier` are the runs that it held, by key."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. Raises UsageError where it is
        another search's, is held, or is no state file."""
        self.path = path
        self._file = StateFile(path, "explore", about, "faults, command, oracle and seed")
        try:
            self.earlier = {str(line["key"]): Made.from_json(line) for line in self._file.earlier}
        except (ValueError, KeyError, TypeError):
            self._file.close()
            raise self._file.unreadable() from None

    def append(self, key: str, made: Made) -> None:
        """Write down a run, and wait until it is on disk."""
        self._file.append({"key": key, **made.as_json()})

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
