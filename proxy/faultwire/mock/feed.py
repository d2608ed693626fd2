"""A stream of the mock that stays open, into which later requests put what its client receives."""

from __future__ import annotations

import asyncio


class Feed:
    """Events for a stream that stays open until its client leaves."""

    def __init__(self, *first: bytes) -> None:
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()
        for event in first:
            self.put(event)

    def put(self, event: bytes) -> None:
        """Send an event as soon as there is a client."""
        self._events.put_nowait(event)

    def end(self) -> None:
        """Close the stream."""
        self._events.put_nowait(None)

    async def next(self) -> bytes | None:
        """The next event, None at the end."""
        return await self._events.get()
