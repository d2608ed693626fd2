"""What a run is started with, and the user's own proxies that it goes through."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.mitm.network.upstream_proxy import from_environment
from faultwire.runner.folder import STATE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.capture.freeze import FrozenClock
    from faultwire.mitm.network.upstream_proxy import UpstreamProxies
    from faultwire.mitm.settings import RadiusSettings
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import ReplaySettings
    from faultwire.runner.namespaced import NamespaceOptions
    from faultwire.runner.packets import PacketOptions
    from faultwire.tape.record.overload_policy import FailurePolicy, RecordPolicy


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """What to start. `tape` None records into the run's folder, as `tape_name` where there are several;
    `implicit` is the session (name, profile, seed) of traffic that names none; `reverse` are routes (name
    to base URL) that the user declared, and `base_urls` sends agents to us by base URL in place of a
    proxy; with `mock`, only the hosts in `mock_except` are called outside this machine; `about` goes into
    `run.json`."""

    command: str
    listen: str = "127.0.0.1:0"
    auth: bool = True
    tape: Path | None = None
    tape_name: str | None = None
    mock: bool = False
    mock_except: tuple[str, ...] = ()
    script: Path | None = None
    allow_hosts: tuple[str, ...] = ()
    upstream_ca: Path | None = None
    client_certs: tuple[tuple[str, Path], ...] = ()
    """Certificates with their keys that servers are shown, each with its host."""
    implicit: tuple[str, Profile, int] | None = None
    reverse: Mapping[str, str] = field(default_factory=dict)
    base_urls: bool = False
    record_policy: RecordPolicy = "block"
    on_tape_failure: FailurePolicy = "fail"
    redact: Mapping[str, Any] = field(default_factory=dict)
    encrypt_bodies: bool = False
    replay: ReplaySettings | None = None
    masks: tuple[str, ...] = ()
    frozen: FrozenClock | None = None
    namespace: NamespaceOptions | None = None
    """A network namespace for the command, where it is to have one."""
    packets: PacketOptions | None = None
    """A WireGuard tunnel or a TUN interface, where connections are to come by one."""
    redirected: int | None = None
    """A port of loopback to which a packet filter redirects connections."""
    relays: tuple[str, ...] = ()
    """Where redirected connections go that are passed on unread (`host:port`)."""
    engines: int = 1
    """How many engines its sessions are placed on."""
    client_sessions: bool = False
    """May clients name sessions of their own? Several engines then share one address."""
    radius: RadiusSettings | None = None
    """What runtime control may touch at most."""
    environ: Mapping[str, str] | None = None
    """The user's environment, where that of this process is already one that a session has made."""
    base: Path = STATE
    about: Mapping[str, Any] = field(default_factory=dict)


def upstream_proxies(settings: LaunchSettings) -> UpstreamProxies | None:
    """The user's own proxies; none where no server is called. Raises UsageError for one we cannot use."""
    mocked = settings.mock and not settings.mock_except
    if mocked or (settings.replay is not None and settings.replay.offline):
        return None
    return from_environment(os.environ if settings.environ is None else settings.environ)


def new_tape_settings(settings: LaunchSettings) -> dict[str, Any]:
    """A new tape's record of the replayed tape and of its masks."""
    from faultwire.replay.reader import tape_settings

    frozen = {"frozen": settings.frozen.settings()} if settings.frozen else {}
    if settings.replay is not None:
        return {**tape_settings(settings.replay), **frozen}
    return {**({"masks": list(settings.masks)} if settings.masks else {}), **frozen}
