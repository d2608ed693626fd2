"""Traffic that reaches the proxy as packets: what is asked for, what the engine needs, what a user does."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import psutil

from faultwire.capture import wireguard
from faultwire.mitm.captured_settings import PacketSettings
from faultwire.runner.hosts import allowed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE = 7301
"""A routing table that nobody has by default (`ip-route(8)`), for what the user is shown."""


@dataclass(frozen=True, slots=True)
class PacketOptions:
    """What the user wants: the session whose traffic it is, a WireGuard tunnel at the UDP address `listen` or
    a TUN interface called `device`, and `relays` (`host:port`) that are passed on unread."""

    session: str
    kind: Literal["tun", "wireguard"]
    listen: tuple[str, int] = ("", 0)
    device: str = ""
    relays: tuple[str, ...] = ()


def engine_settings(options: PacketOptions, ca_dir: Path) -> PacketSettings:
    """What the engine is told of it. Keys, and what the device needs, are in `ca_dir`. Raises UsageError."""
    made = PacketSettings(
        session=options.session, kind=options.kind, device=options.device, relays=allowed(options.relays)
    )
    if options.kind == "tun":
        return made
    keys = wireguard.keys_in(ca_dir)
    first, *others = endpoints(*options.listen)
    wireguard.write_conf(ca_dir, keys, first, others)
    theirs = {"private_key": keys.ours, "peer_key": wireguard.public(keys.device)}
    return made.model_copy(update={"listen": options.listen, **theirs})


def endpoints(host: str, port: int) -> list[str]:
    """Where a tunnel that listens there is reached from other machines, the likeliest first."""
    if not ipaddress.ip_address(host).is_unspecified:
        return [_place(host, port)]
    found = sorted(_addresses(), key=lambda one: (one.version, int(one)))
    usable = [one for one in found if not (one.is_loopback or one.is_link_local)]
    return [_place(str(one), port) for one in usable] or [_place("127.0.0.1", port)]


def _addresses() -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    for given in psutil.net_if_addrs().values():
        for one in given:
            if one.family in (socket.AF_INET, socket.AF_INET6):
                yield ipaddress.ip_address(one.address.partition("%")[0])


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def packet_environment(options: PacketOptions, ca_dir: Path) -> dict[str, str]:
    """What the command is told of it, which may set up devices or routes."""
    if options.kind == "tun":
        return {"FAULTWIRE_TUN": options.device}
    return {"FAULTWIRE_WIREGUARD_CONF": str((ca_dir / wireguard.CONF).absolute())}


def instructions(options: PacketOptions, ca_cert: Path) -> list[str]:
    """What has to be done so that traffic comes."""
    if options.kind == "wireguard":
        conf = ca_cert.parent / wireguard.CONF
        return [
            f"wireguard: import `{conf}` on the device, which holds its key, and let it trust `{ca_cert}`",
        ]
    device = options.device
    return [
        f"tun: what is routed into `{device}` is captured, say from a container's bridge: "
        f"ip rule add iif BRIDGE lookup {TABLE}; ip route add default dev {device} table {TABLE}; "
        f"ip route add unreachable default metric 9999 table {TABLE}",
        f"tun: let the containers trust `{ca_cert}`, and never route this machine's own traffic there",
    ]
