"""A gateway as an engine's settings describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.network.egress_guard import Guard, family_of
from faultwire.mitm.sessions.access import is_loopback

if TYPE_CHECKING:
    from faultwire.mitm.flow.replay import Replays
    from faultwire.mitm.settings import EngineSettings
    from faultwire.tape.record.writer import TapeWriter


def gateway_of(
    settings: EngineSettings, tape: TapeWriter | None, replays: Replays | None, port: int
) -> Gateway:
    """The gateway of an engine that listens at `port`."""
    gateway = Gateway(
        guard=Guard.of(
            settings.allow_hosts,
            [*settings.routes.values(), *settings.reverse.values()],
            local_only=settings.local_only,
            remote_hosts=settings.remote_hosts,
        ),
        reverse=settings.reverse,
        routes=settings.routes,
        tape=tape,
        replays=replays,
        max_exchanges=settings.max_exchanges,
        head_timeout_s=settings.head_timeout_s,
        loop_guards=True,
    )
    gateway.access.check = settings.auth
    if settings.auth and not is_loopback(settings.address[0]):
        gateway.access.guarded.add(port)
    gateway.routes.proxies = settings.upstream_proxies
    gateway.response_limits = (settings.first_byte_s, settings.idle_body_s)
    gateway.idle_request_s, gateway.handshake_s = settings.idle_request_s, settings.handshake_s
    gateway.sources.limit = settings.per_source
    gateway.guard.listeners.add(port)
    gateway.guard.family = family_of(settings.address[0])
    gateway.guard.shims = settings.run_dir / "shims"
    gateway.guard.workbenches = settings.run_dir.parents[1] / "workbench"
    return gateway
