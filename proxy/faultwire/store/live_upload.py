"""Pieces of tapes go to the object store while they are being recorded.

One thread sends one piece at a time: what no longer changes (`pieces`), once a megabyte more has been
committed behind it. It reads beside the writer and never makes it wait. Nothing that it sends is a tape: the
push after the seal cuts the whole file, sends what is not there and then the manifest. A page that changed
all the same is sent again by that push, and the piece that was sent ahead goes with the next `gc`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire.errors import FaultwireError
from faultwire.store import pieces
from faultwire.store.tapes import blob_name
from faultwire.tape.read.committed_pages import CommittedPages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.store.objects import Objects

EVERY_S = 1.0
"""Seconds between two looks at the tapes."""


@dataclass(slots=True)
class _Watched:
    path: Path
    pages: CommittedPages | None = None
    windows: int = 0
    """How many of its windows have been looked at."""


class LiveUpload:
    """Sends pieces of the tapes that it is given until it is stopped, or the store fails."""

    def __init__(self, objects: Objects, every_s: float = EVERY_S) -> None:
        self.failed: str | None = None
        self.sent_bytes = 0
        self._objects = objects
        self._every_s = every_s
        self._watched: list[_Watched] = []
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, paths: Sequence[Path]) -> None:
        """Send pieces of these tapes as well, which need not be there yet."""
        self._watched += [_Watched(path) for path in paths]
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tape upload", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Return once nothing is being sent any more."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Let the files go; call it when nothing in this process has the tapes open."""
        self.stop()
        for one in self._watched:
            if one.pages is not None:
                one.pages.close()
        self._watched.clear()

    def _run(self) -> None:
        while not self._ending.wait(self._every_s):
            try:
                for one in list(self._watched):
                    self.look(one)
            except FaultwireError as error:
                self.failed = error.message
                return
            except OSError as error:
                self.failed = f"cannot read the tape: {error.strerror}"
                return

    def look(self, one: _Watched) -> None:
        """Send what has settled of a tape since the last look. Raises FaultwireError and OSError."""
        if one.pages is None:
            if not one.path.is_file():
                return
            one.pages = CommittedPages(one.path)
        each = pieces.WINDOW // pieces.PAGE
        # The last megabyte is left: a page of rows changes until it is full.
        whole = one.pages.look() // each - 1
        while one.windows < whole and not self._ending.is_set():
            for piece in pieces.cut(one.pages.read(one.windows * each + 1, each)):
                if piece.settled:
                    self._send(piece.data)
            one.windows += 1

    def _send(self, data: bytes) -> None:
        name = blob_name(sha256(data).hexdigest())
        if not self._objects.has(name, len(data)):
            self._objects.put(name, data)
            self.sent_bytes += len(data)
