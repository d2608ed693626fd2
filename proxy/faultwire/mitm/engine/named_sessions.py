"""The session of traffic that names none, and those that clients of a proxy name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mitm.engine.handed_over import HandedOver
from faultwire.mitm.sessions.client_sessions import ClientSessions
from faultwire.mitm.settings import SessionSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.sessions.sessions import Sessions
    from faultwire.mitm.settings import EngineSettings


def let_clients_name(
    settings: EngineSettings, sessions: Sessions, open_: Callable[..., Session], serve: Callable[..., object]
) -> HandedOver | None:
    """Open the one by `open_`, and let clients name the others where they may. Where the engine does not
    listen itself, who gives it its connections, for `serve`."""
    clients = settings.clients
    assert clients is not None
    if settings.implicit is not None:
        sessions.implicit = open_(settings.implicit, clients.user, clients.token)

    def opened(name: str) -> Session:
        if sessions.implicit is not None and sessions.implicit.name == name:
            return sessions.implicit
        named = SessionSettings(name=name, profile=clients.profile, seed=clients.seed)
        return open_(named, f"{clients.user}.{name}", clients.token, path=f"{clients.token}.{name}")

    announced = settings.handed is not None
    sessions.clients = ClientSessions(clients.user, clients.token, opened, announced=announced)
    if settings.handed is None:
        return None
    return HandedOver(settings.handed, sessions.clients, serve)
