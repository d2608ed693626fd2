"""What the handler of a connection needs to know of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mitmproxy.connection import Client


class Counters(Protocol):
    """What a handler counts."""

    slow_heads: int
    half_open: int


class Owner(Protocol):
    """What a handler needs to know of the engine."""

    head_timeout_s: float
    handshake_s: float

    @property
    def stats(self) -> Counters:
        """The counters of the engine."""

    def crashed(self, client: Client, error: BaseException) -> None:
        """A connection failed in our code or mitmproxy's."""

    def lags(self) -> bool:
        """Has the tape more to write than it should?"""

    async def room(self) -> None:
        """Return once the tape can take more."""
