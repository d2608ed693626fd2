"""The queue between the event loop and the writer thread: bounded in bytes, cheap to fill."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from faultwire.tape.record.recorder import Recording

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 16 * 1024 * 1024
"""Bytes that may wait for the writer before producers are asked to pause."""


class WriteQueue:
    """Items for the writer. `offer` and `room` belong to producers, the rest to the writer thread.

    A producer never takes a lock: `deque.append` is atomic, and the event is set only when the
    writer may be asleep.
    """

    def __init__(self, limit: int = LIMIT, *, drops: bool = False) -> None:
        self.limit = limit
        self.drops = drops
        """Nobody is asked to pause; what does not fit is not taken."""
        self.offered = 0
        """Bytes of items so far; a producer adds what an offered item has gained."""
        self.taken = 0
        self.gone = False
        """Nobody writes any more."""
        self._items: deque[Any] = deque()
        self._awake = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._waiting: deque[Callable[[], None]] = deque()
        self._awaited: set[_Awaited] = set()

    @property
    def behind(self) -> int:
        """Bytes that the writer has not taken yet."""
        return self.offered - self.taken

    @property
    def overflows(self) -> bool:
        """Is there no room, and nobody who waits for it?"""
        return self.drops and self.behind >= self.limit

    def offer(self, item: Any) -> None:
        """Hand over an item; returns at once."""
        self._items.append(item)
        if self.gone:
            self._discard()
        if not self._awake:
            self._awake = True
            self._wake.set()

    def hurry(self) -> None:
        """End the gathering pause: more than `HURRY` waits."""
        if not self._hurry.is_set():
            self._hurry.set()

    def urge(self, item: Any) -> None:
        """Hand over an item, and end the gathering pause now."""
        self.offer(item)
        self._hurry.set()

    async def written(self) -> None:
        """Return once all that was offered before is on the disk, or given up."""
        done = _Awaited()
        self._awaited.add(done)
        try:
            self.urge(done)
            await done.ready
        finally:
            self._awaited.discard(done)

    async def room(self) -> None:
        """Return once less than `limit` is waiting; at once as a rule."""
        while not self.drops and self.behind >= self.limit:
            loop = asyncio.get_running_loop()
            ready = loop.create_future()
            self._waiting.append(partial(_wake_loop, loop, ready))
            self._hurry.set()
            if self.behind < self.limit:
                return
            await ready

    def gather(self, seconds: float) -> list[Any]:
        """Wait for an item, then up to `seconds` for more; all that is there, oldest first."""
        self._wake.wait()
        self._hurry.wait(seconds)
        self._hurry.clear()
        self._wake.clear()
        self._awake = False
        items = self._items
        return [items.popleft() for _ in range(len(items))]

    def took(self, size: int) -> None:
        """Bytes that are now on the tape or given up."""
        self.taken += size
        while self._waiting and self.behind < self.limit:
            self._waiting.popleft()()

    def abandon(self) -> None:
        """The writer is gone: nobody waits for it any more, flushes return, and nothing is held."""
        self.gone = True
        self.limit = sys.maxsize
        self.took(0)
        self._discard()
        for done in list(self._awaited):  # those that it had taken when it failed
            done.set()

    def _discard(self) -> None:
        # Both threads may be here at once.
        with suppress(IndexError):
            while True:
                item = self._items.popleft()
                if isinstance(item, threading.Event):
                    item.set()
                elif isinstance(item, Recording):
                    item.forget()


class _Awaited(threading.Event):
    """An event that an event loop awaits, without a thread that waits for it in its place."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()

    def set(self) -> None:
        """It has come about; called by any thread."""
        super().set()
        _wake_loop(self._loop, self.ready)


def _wake_loop(loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(_resolve, ready)


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
