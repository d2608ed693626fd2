"""A gate in the middle of a stream, for tests that prove when bytes arrive."""

from __future__ import annotations

import asyncio
import threading


class Gate:
    """Holds every stream back after its first `after_events` events until it is opened.

    `reached` is set once a stream waits here. Open it from any thread.
    """

    def __init__(self, after_events: int = 1) -> None:
        self.after_events = after_events
        self.reached = threading.Event()
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        """Let every stream go on, those that come later too."""
        with self._lock:
            self._open = True
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    async def wait(self) -> None:
        """Wait until it is open."""
        event = asyncio.Event()
        with self._lock:
            if self._open:
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        self.reached.set()
        await event.wait()
