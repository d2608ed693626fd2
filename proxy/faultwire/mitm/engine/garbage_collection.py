"""When Python's cyclic garbage collector may look at everything: when nobody waits for it.

mitmproxy's connections and flows are full of cycles, so the collector has to run. But a full collection
walks all that lives, and with a thousand streams open that stops every one of them for a tenth of a second
and more (it was most of the 99th percentile of what others waited). So what was there at the start is left
out of every collection (`gc.freeze`), young objects are collected as usual, in larger batches, and the full
collection is ours: when enough has grown old and little is in flight, or, where it never gets quiet, when
much has grown old.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

YOUNG, MIDDLE = 10_000, 20
"""Objects more than before until the youngest are collected (Python: 700), and how often these are until
those that outlived one collection are (Python: 10)."""
NEVER = 1_000_000_000
"""So many collections of the middle generation that Python makes no full one by itself."""
EVERY_S = 1.0
"""Seconds between two looks."""
QUIET = 32
"""Exchanges in flight up to which a full collection takes a few milliseconds."""
SOME, MUCH = 1, 50
"""Collections of the middle generation after which a full one is due: in a quiet moment, and anyway."""


def is_due(middle: int, live: int) -> bool:
    """Is it time for a full collection? `middle` counts collections of the middle generation since the
    last one, `live` the exchanges in flight."""
    return middle >= MUCH or (middle >= SOME and live <= QUIET)


class PacedCollector:
    """Takes the full collections over from Python, from `start` on; `live` tells the exchanges in flight."""

    def __init__(self, live: Callable[[], int], every_s: float = EVERY_S) -> None:
        self._live = live
        self._every_s = every_s
        self._before = gc.get_threshold()
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Leave out what is there now, and look from time to time whether a full collection is due."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, MIDDLE, NEVER)
        self._next(loop)

    def stop(self) -> None:
        """Give it back."""
        if self._timer is not None:
            self._timer.cancel()
        gc.set_threshold(*self._before)
        gc.unfreeze()

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(self._every_s, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        if is_due(gc.get_count()[2], self._live()):
            gc.collect()
        self._next(loop)
