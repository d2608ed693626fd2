"""Hosts that the user allows, with every name of this machine where one is named."""

from __future__ import annotations

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine: allowing `localhost` allows them all."""


def allowed(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The hosts to allow, with every name of this machine where one is named."""
    every: list[str] = []
    for host in hosts:
        name, port = _split(host)
        names = LOOPBACK if name in LOOPBACK else (name,)
        every += [f"{each}:{port}" if port else each for each in names]
    return tuple(dict.fromkeys(every))


def _split(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name.lower(), rest.removeprefix(":")
    if host.count(":") == 1:
        name, _, port = host.partition(":")
        return name.lower(), port
    return host.lower(), ""
