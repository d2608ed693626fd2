"""`--capture tun|wireguard` of `exec` and `proxy`: its options, and what is said of it."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.runner.packets import PacketOptions
    from faultwire.runner.started_run import Run

F = TypeVar("F", bound="Callable[..., Any]")
LISTEN, DEVICE = "0.0.0.0:51820", "faultwire0"
KINDS = ("tun", "wireguard")
LONGEST_NAME = 15
"""Bytes of an interface's name (IFNAMSIZ without its end)."""


def packet_options(command: F) -> F:
    """`--wireguard-listen` and `--tun-device`."""
    options = (
        click.option(
            "--wireguard-listen",
            callback=_as_address,
            metavar="ADDRESS:PORT",
            help=f"With --capture wireguard: the UDP address of the tunnel.  [default: {LISTEN}]",
        ),
        click.option(
            "--tun-device",
            callback=_as_device,
            metavar="NAME",
            help=f"With --capture tun: the interface to make.  [default: {DEVICE}]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _as_address(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    try:
        ipaddress.ip_address(host.strip("[]"))
        good = port.isdecimal() and 0 < int(port) < 65536
    except ValueError:
        good = False
    if not good:
        raise click.BadParameter(f"found `{value}`, expected `ADDRESS:PORT` such as `{LISTEN}`")
    return host.strip("[]"), int(port)


def _as_device(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    letters = value.replace("-", "").replace("_", "").replace(".", "")
    if not (letters.isascii() and letters.isalnum() and value[0].isalpha() and len(value) <= LONGEST_NAME):
        raise click.BadParameter(
            f"found `{value}`, expected a name of at most 15 letters and digits such as `{DEVICE}`"
        )
    return value


def packets(
    capture: str,
    session: str,
    listen: tuple[str, int] | None,
    device: str | None,
    relays: tuple[str, ...] = (),
) -> PacketOptions | None:
    """The tunnel or the interface that the options ask for. Raises UsageError for those without it."""
    from faultwire.errors import UsageError
    from faultwire.runner.packets import PacketOptions

    for name, value, kind in (
        ("--wireguard-listen", listen, "wireguard"),
        ("--tun-device", device, "tun"),
    ):
        if value is not None and capture != kind:
            raise UsageError(
                f"found `{name}` without `--capture {kind}`, expected both", code="usage.capture"
            )
    if capture == "wireguard":
        host, _, port = LISTEN.rpartition(":")
        return PacketOptions(session, "wireguard", listen=listen or (host, int(port)), relays=relays)
    if capture == "tun":
        return PacketOptions(session, "tun", device=device or DEVICE, relays=relays)
    return None


def instructions_of(run: Run) -> list[str]:
    """What the user has to do so that traffic comes; nothing for other ways of capture."""
    if run.packets is None:
        return []
    from faultwire.runner.packets import instructions

    return instructions(run.packets, run.trust.ca_cert)


def needs_of(run: Run) -> str:
    """What is missing where nothing came; empty for other ways of capture."""
    if run.packets is None:
        return ""
    if run.packets.kind == "wireguard":
        return "bring the tunnel up on the device, with the `wireguard.conf` named above"
    return f"route something into `{run.packets.device}`, as shown above"
