"""The time that a server may take: for the first byte of its response, and between two pieces of it.

A stream that says anything, be it a comment, is alive and has no limit. What a fault holds back is not the
server's doing, so no time runs then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class _Deadlines:
    """When each watch of one event loop looks again, behind one timer: an exchange that ends in time costs a
    member of a table, and no timer of its own."""

    loop: asyncio.AbstractEventLoop
    _due: dict[UpstreamWatch, float] = field(default_factory=dict)
    _timer: asyncio.TimerHandle | None = None
    _at: float = 0.0
    """The instant of the timer; never later than any that is due."""

    def put(self, watch: UpstreamWatch, at: float) -> None:
        """Let a watch look at an instant of the loop's clock."""
        self._due[watch] = at
        if self._timer is None or at < self._at:
            self._wake_at(at)

    def drop(self, watch: UpstreamWatch) -> None:
        """It need not look any more. The timer stays: the next watch needs one as likely as not."""
        self._due.pop(watch, None)

    def _wake_at(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._at = self.loop.call_at(at, self._look), at

    def _look(self) -> None:
        now = self.loop.time()
        self._timer = None
        due = [watch for watch, at in self._due.items() if at <= now + SLACK_S]
        for watch in due:
            del self._due[watch]
        if self._due:
            self._wake_at(min(self._due.values()))
        for watch in due:  # each by itself: what one does must not keep the others
            self.loop.call_soon(watch.look, now)


SLACK_S = 0.001
"""What is due within this time is due."""
_last: list[_Deadlines] = []
"""Of the loop that was asked for last: an engine has one."""


def _deadlines() -> _Deadlines:
    loop = asyncio.get_running_loop()
    if not _last or _last[0].loop is not loop:
        _last[:] = [_Deadlines(loop)]
    return _last[0]


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
    _deadlines: _Deadlines | None = None
    """Where it stands while it watches."""

    def start(self) -> None:
        """The request has been sent."""
        if self._deadlines is None:
            among = self._deadlines = _deadlines()
            self._received_at = among.loop.time()
            among.put(self, self._received_at + self.first_byte_s)

    def note_data(self) -> None:
        """Something of the response came."""
        self._begun = True
        if self._deadlines is not None:
            self._received_at = self._deadlines.loop.time()

    def stop(self) -> None:
        """The response is over, or nobody waits for it any more."""
        if self._deadlines is not None:
            self._deadlines.drop(self)
            self._deadlines = None

    def look(self, now: float) -> None:
        """Has it taken too long? If not, look again when it may have."""
        among = self._deadlines
        if among is None:
            return
        if self.held():
            self._received_at = now
        limit = self.idle_s if self._begun else self.first_byte_s
        at = self._received_at + limit
        if at - now > SLACK_S:
            among.put(self, at)
            return
        self._deadlines = None
        what = "it said nothing more" if self._begun else "it sent no response"
        self.expired = f"{what} within {limit:g} seconds"
        self.expire(self.expired)
