"""What a server of ours prints, on its way to a file: line by line, without what looks like a secret."""

from __future__ import annotations

import os
import threading
from typing import IO, TYPE_CHECKING

from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = 1 << 16
"""Bytes of one line; a longer one is looked through in pieces."""
DRAIN_S = 2.0
"""Seconds that the rest may take once the last writer is gone."""


class Log(threading.Thread):
    """Reads a pipe to its end and appends what it may keep to a file of its owner alone (0600)."""

    def __init__(self, pipe: IO[bytes], path: Path) -> None:
        super().__init__(daemon=True, name="agent-log")
        self._pipe = pipe
        self._file = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        self._redactor = Redactor(fresh_key())
        self.start()

    def run(self) -> None:
        """Read until the last writer is gone."""
        try:
            with self._pipe as pipe:
                while line := pipe.readline(LONGEST):
                    clean = self._redactor.text(line.decode("utf-8", "replace"), {})
                    os.write(self._file, clean.encode("utf-8", "replace"))
        finally:
            os.close(self._file)

    def settle(self) -> None:
        """Wait until all output is in the file, for a bounded time."""
        self.join(DRAIN_S)
