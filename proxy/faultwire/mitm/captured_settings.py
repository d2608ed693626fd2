"""Settings of traffic that no client addressed to the proxy: of a namespace, of a redirect, of packets."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from faultwire.profile.entry_model import Frozen


class NamespaceSettings(Frozen):
    """A network namespace in which every address is ours, for the processes of one session. Descriptors that
    the engine inherits: `listeners` (TCP), `dns` (UDP, or TCP listeners) and `refusals` (packet sockets).

    What goes to `relays` (`host:port`, or with `*`) is passed on unread. With `redirected` the namespace is
    not ours: a packet filter sends connections to this port of loopback, and knows where they were to go.
    """

    session: str
    listeners: tuple[int, ...]
    dns: tuple[int, ...] = ()
    refusals: tuple[int, ...] = ()
    relays: tuple[str, ...] = ()
    ipv6: bool = True
    redirected: int | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them."""
        return (*self.listeners, *self.dns, *self.refusals)


class PacketSettings(Frozen):
    """A WireGuard tunnel that the engine ends, or a TUN interface that it makes, for one session. `listen` is
    the tunnel's UDP address, `private_key` our key and `peer_key` the device's public one (Base64); `device`
    is the interface's name. What goes to `relays` (`host:port`, or with `*`) is passed on unread."""

    session: str
    kind: Literal["tun", "wireguard"]
    listen: tuple[str, int] = ("", 0)
    private_key: str = Field(default="", repr=False)
    peer_key: str = ""
    device: str = ""
    relays: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in a run's summary."""
        return "the WireGuard tunnel" if self.kind == "wireguard" else f"the interface `{self.device}`"
