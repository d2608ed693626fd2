"""`events.jsonl`: a line for each acknowledged exchange, for whoever watches a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.events import Exchange


class Journal:
    """Appends to a JSON-lines file (0600). Written after the commit, so it never promises too much."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def acknowledge(self, exchanges: Iterable[Exchange]) -> None:
        """One line for each exchange."""
        lines = [
            orjson.dumps({"type": "acknowledged", "session": e.session, "exchange": e.number})
            for e in exchanges
        ]
        data = b"\n".join(lines) + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        """Let the file go."""
        os.close(self._fd)
