"""The time that a client may take over the body of its request.

A body whose length its head declares has to come at `LEAST_RATE` bytes a second; one of unknown length may be
made while it is sent, and has to bring something. No time runs while we do not read from the client, since
a server, a fault or the tape has to catch up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

LEAST_RATE = 64
"""Bytes a second, over the whole of an idle limit."""

LOOKS = 4
"""How often within the limit it is asked whether we hold the client back."""


@dataclass(slots=True, eq=False)
class UploadWatch:
    """Watches one body; `expire` is called once too little of it came within `seconds`. `held` asks whether
    the client is not read from."""

    seconds: float
    declared: bool
    held: Callable[[], bool]
    expire: Callable[[], None]
    expired: str | None = None
    _received: int = 0
    _looks: int = 0
    _timer: asyncio.TimerHandle | None = None

    @property
    def least(self) -> int:
        """Bytes that have to come within the limit."""
        return max(1, int(self.seconds * LEAST_RATE)) if self.declared else 1

    def start(self) -> None:
        """The request head has been read, and its body is to come."""
        self._timer = asyncio.get_running_loop().call_later(self.seconds / LOOKS, self._look)

    def note_data(self, size: int) -> None:
        """So many bytes of it came."""
        self._received += size

    def stop(self) -> None:
        """It is whole, or nobody waits for it any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self.held() or self._received >= self.least:
            self._received = self._looks = 0
        else:
            self._looks += 1
        if self._looks < LOOKS:
            self.start()
            return
        self._timer = None
        came = f"{self._received} bytes of the request body came" if self._received else "no more of it came"
        self.expired = f"the request body is not whole, and {came} within {self.seconds:g} seconds"
        self.expire()
