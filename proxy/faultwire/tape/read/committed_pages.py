"""The pages of a tape as its writer has committed them, read beside SQLite while it is being written.

What was committed is in the file, or in its log until that is folded in. The log's form is that of SQLite's
file format, section 4: a header of 32 bytes, then frames of 24 bytes and a page; those whose salts are not
the header's are left from before. Nothing is locked and no checksum is looked at: a page may be read while it
is overwritten. So this is for who sends pages ahead and holds the whole against its hash later, never for
reading what a tape says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 8192
"""Bytes of a tape's page (`WRITER_PRAGMAS`)."""
HEADER, FRAME = 32, 24
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class CommittedPages:
    """Pages by number, from 1. Close it only when no other part of this process has the tape open: closing
    a file drops the locks that SQLite holds on it for the process."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where there is no file yet."""
        self._log_path = path.with_name(path.name + "-wal")
        self._log: int | None = None
        self._file = os.open(path, _FLAGS)
        self._forget(b"")

    def look(self) -> int:
        """How many pages are committed by now. Raises OSError."""
        self._open_log()
        if self._log is not None:
            header = os.pread(self._log, HEADER, 0)
            if header[16:24] != self._salts:
                self._forget(header[16:24])
            if len(header) == HEADER and int.from_bytes(header[8:12]) == PAGE:
                self._read_frames(self._log)
        return self._count or os.fstat(self._file).st_size // PAGE

    def read(self, first: int, count: int) -> bytes:
        """Pages as they were when it last looked, `count` of them from `first`. Raises OSError."""
        return b"".join(self._page(number) for number in range(first, first + count))

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)
        if self._log is not None:
            os.close(self._log)

    def _page(self, number: int) -> bytes:
        at = self._frames.get(number)
        if at is not None and self._log is not None:
            return os.pread(self._log, PAGE, at)
        return os.pread(self._file, PAGE, (number - 1) * PAGE)

    def _forget(self, salts: bytes) -> None:
        self._salts, self._next, self._count = salts, HEADER, 0
        self._frames: dict[int, int] = {}

    def _open_log(self) -> None:
        """The log that has the name now; SQLite removes one and makes another."""
        try:
            opened = os.open(self._log_path, _FLAGS)
        except FileNotFoundError:
            opened = None
        if opened is not None and self._log is not None and os.path.sameopenfile(opened, self._log):
            os.close(opened)
            return
        if self._log is not None:
            os.close(self._log)
        self._log = opened
        self._forget(b"")

    def _read_frames(self, log: int) -> None:
        size, at = os.fstat(log).st_size, self._next
        waiting: dict[int, int] = {}
        while at + FRAME + PAGE <= size:
            head = os.pread(log, FRAME, at)
            if head[8:16] != self._salts:
                return
            waiting[int.from_bytes(head[:4])] = at + FRAME
            at += FRAME + PAGE
            if pages := int.from_bytes(head[4:8]):  # the last frame of a transaction
                self._frames |= waiting
                self._count, self._next = pages, at
                waiting.clear()
