"""The time that a server may take: for the first byte of its response, and between two pieces of it.

A stream that says anything, be it a comment, is alive and has no limit. What a fault holds back is not the
server's doing, so no time runs then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class UpstreamWatch:
    """Watches one response; `expire` is called with what was waited for once it took too long. `held` asks
    whether we ourselves hold it back."""

    first_byte_s: float
    idle_s: float
    held: Callable[[], bool]
    expire: Callable[[str], None]
    expired: str | None = None
    _begun: bool = False
    _received_at: float = 0.0
    _timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """The request has been sent."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._received_at = loop.time()
            self._timer = loop.call_later(self.first_byte_s, self._look)

    def note_data(self) -> None:
        """Something of the response came."""
        self._begun = True
        if self._timer is not None:
            self._received_at = asyncio.get_running_loop().time()

    def stop(self) -> None:
        """The response is over, or nobody waits for it any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.held():
            self._received_at = now
        limit = self.idle_s if self._begun else self.first_byte_s
        left = self._received_at + limit - now
        if left > 0.001:
            self._set(left)
            return
        self._timer = None
        what = "it said nothing more" if self._begun else "it sent no response"
        self.expired = f"{what} within {limit:g} seconds"
        self.expire(self.expired)
