"""Events of ours in mitmproxy's own machinery: how a stream waits and hangs up.

A layer of mitmproxy that yields a hook is paused until the hook is done, while every other stream of
the connection goes on. mitmproxy's own `RequestWakeup` does not pause, so waiting needs a hook.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mitmproxy.addonmanager import traverse
from mitmproxy.proxy import commands

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from mitmproxy.connection import Client


class Hooks:
    """The handlers of each hook, in the order of the addons; looked up once."""

    def __init__(self, addons: Iterable[Any]) -> None:
        self._addons = list(traverse(addons))
        self._found: dict[str, tuple[Callable[[Any], Awaitable[None] | None], ...]] = {}

    def __getitem__(self, name: str) -> tuple[Callable[[Any], Awaitable[None] | None], ...]:
        handlers = self._found.get(name)
        if handlers is None:
            found = (getattr(addon, name, None) for addon in self._addons)
            handlers = self._found[name] = tuple(handler for handler in found if callable(handler))
        return handlers


class Pause:
    """A wait of one stream: over after `seconds` (None: never), or when its client leaves."""

    def __init__(self, client: Client, seconds: float | None) -> None:
        self.client = client
        self.seconds = seconds
        self.left = self._ended = False
        self._over: asyncio.Future[None] | None = None

    def leave(self) -> None:
        """The client went away."""
        self.left = True
        self._expire()

    def end(self) -> None:
        """It is over before its time."""
        self._ended = True
        self._expire()

    async def last(self) -> None:
        """Return when it is over."""
        if self.left or self._ended:
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
