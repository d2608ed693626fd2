"""Events of ours in mitmproxy's own machinery: how a stream waits and hangs up.

A layer of mitmproxy that yields a hook is paused until the hook is done, while every other stream of
the connection goes on. mitmproxy's own `RequestWakeup` does not pause, so waiting needs a hook.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mitmproxy.proxy import commands

if TYPE_CHECKING:
    from mitmproxy.connection import Client


class Pause:
    """A wait of one stream: over after `seconds` (None: never), or when its client leaves."""

    def __init__(self, client: Client, seconds: float | None) -> None:
        self.client = client
        self.seconds = seconds
        self.left = False
        self._over: asyncio.Future[None] | None = None

    def leave(self) -> None:
        """The client went away."""
        self.left = True
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    async def last(self) -> None:
        """Return when it is over."""
        if self.left:
            return
        loop = asyncio.get_running_loop()
        over = self._over = loop.create_future()
        timer = None
        if self.seconds is not None:
            timer = loop.call_later(self.seconds, self._expire)
        try:
            await over
        finally:
            if timer is not None:
                timer.cancel()

    def _expire(self) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(None)


@dataclass
class Hangup:
    """A client whose connection is to be reset."""

    client: Client


@dataclass
class FaultwireWaitHook(commands.StartHook):
    """Calls `faultwire_wait(pause)`."""

    pause: Pause


@dataclass
class FaultwireResetHook(commands.StartHook):
    """Calls `faultwire_reset(hangup)`."""

    hangup: Hangup
