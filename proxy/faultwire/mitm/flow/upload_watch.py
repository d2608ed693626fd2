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
    received: int = 0
    """Bytes that came since it was last looked at; who reads them adds them."""
    _looks: int = 0
    _timer: asyncio.TimerHandle | None = None

    @property
    def least(self) -> int:
        """Bytes that have to come within the limit."""
        return max(1, int(self.seconds * LEAST_RATE)) if self.declared else 1

    def start(self) -> None:
        """The request head has been read, and its body is to come."""
        self._timer = asyncio.get_running_loop().call_later(self.seconds / LOOKS, self._look)

    def stop(self) -> None:
        """It is whole, or nobody waits for it any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self.held() or self.received >= self.least:
            self.received = self._looks = 0
        else:
            self._looks += 1
        if self._looks < LOOKS:
            self.start()
            return
        self._timer = None
        came = f"{self.received} bytes of the request body came" if self.received else "no more of it came"
        self.expired = f"the request body is not whole, and {came} within {self.seconds:g} seconds"
        self.expire()
