"""Where connections come from that no client addressed to the proxy: a namespace, a redirect, or packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from faultwire.mitm.engine.accept import Acceptor
    from faultwire.mitm.sessions.sessions import Sessions
    from faultwire.mitm.settings import EngineSettings


class CapturedTraffic(Protocol):
    """One such source, for one session."""

    session: str

    async def start(self) -> None:
        """Take connections. Raises UsageError."""

    def close(self) -> None:
        """Take no more."""

    async def end(self) -> None:
        """Take no more, and wait until no more can come."""


async def start(settings: EngineSettings, sessions: Sessions, acceptor: Acceptor) -> CapturedTraffic | None:
    """The source that the settings want, started; None where they want none. Raises UsageError."""
    made: CapturedTraffic | None = None
    if settings.namespace is not None:
        from faultwire.mitm.engine.namespace import Namespace

        made = Namespace(settings.namespace, sessions, acceptor)
    elif settings.packets is not None:
        from faultwire.mitm.engine.packets import PacketServer

        made = PacketServer(settings.packets, sessions, acceptor)
    if made is not None:
        await made.start()
    return made
