"""Where the proxy may connect to: pure rules over host names and resolved addresses.

An agent that was talked into fetching `http://169.254.169.254/` or our own control port must not
reach it through us. Judged is the address that the connection then goes to, so that a name which
resolves differently the second time gains nothing.
"""

from __future__ import annotations

import fcntl
import ipaddress
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire._core import glob_match
from faultwire.mitm.network.registries import embedded, special

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.mitm.network.registries import Address

    Infos = list[tuple[int, int, int, str, tuple[object, ...]]]

MARK = "refused by faultwire: "
"""Begins the text of every refusal, to distinguish it from a failure of the network."""


class Refused(OSError):
    """A target is not allowed. An OSError, since it is raised where a connection would fail."""

    def __init__(self, message: str) -> None:
        super().__init__(MARK + message)


@dataclass
class Guard:
    """The rules of one engine. `listeners` are its own ports, refused whatever else is allowed, and `family`
    is the one version of IP in which it listens there, 4 or 6; 0 for both. The same port in the other version
    is another program's, for the system gives them out one by one."""

    allow_hosts: tuple[str, ...] = ()
    targets: frozenset[tuple[str, int]] = frozenset()
    listeners: set[int] = field(default_factory=set)
    family: int = 0
    shims: Path | None = None
    """A folder of ours, in which a file is named after each port of this machine that an MCP shim serves."""
    workbenches: Path | None = None
    """A folder of ours, in which a file is named after each port of this machine that a workbench listens on.
    It holds the file as long as it does; they are refused whatever else is allowed."""
    local_only: bool = False
    """May only addresses of this machine be connected to, apart from `remote_hosts`?"""
    remote_hosts: tuple[str, ...] = ()
    """Host names or patterns that may be connected to although they are not on this machine."""

    @classmethod
    def of(
        cls,
        allow_hosts: Iterable[str],
        targets: Iterable[str] = (),
        *,
        local_only: bool = False,
        remote_hosts: Iterable[str] = (),
    ) -> Guard:
        """The rules for a set of allowed hosts, and of declared base URLs, which are allowed too."""
        return cls(
            tuple(host.lower() for host in allow_hosts),
            frozenset(_endpoint(url) for url in targets),
            local_only=local_only,
            remote_hosts=tuple(host.lower() for host in remote_hosts),
        )

    def check_remote(self, host: str) -> str | None:
        """Why a host is refused before its name is looked up, because only this machine may be called."""
        if not self.local_only or is_local(host) or covers(self.remote_hosts, host):
            return None
        return (
            f"the mock does not answer for `{host}`, and with `--mock` no request leaves this machine; to "
            f"call the real server, add `--mock-except {host}` (`proxy.mock_except` in faultwire.yaml)"
        )

    def check(self, host: str, port: int, address: str) -> str | None:
        """Why a connection to `address` on behalf of `host` is refused, or None."""
        ip = _plain(ipaddress.ip_address(address.partition("%")[0]))
        if self.is_listener(address, port):
            return f"`{host}:{port}` is this proxy itself"
        if self._is_workbench(address, port):
            return f"`{host}:{port}` is faultwire's workbench, which no agent may reach"
        if self.local_only and not (ip.is_loopback or ip.is_unspecified or covers(self.remote_hosts, host)):
            return self.check_remote(host) or f"`{host}` ({ip}) is not an address of this machine"
        if self._allowed(host, port):
            return None
        kind = private(ip)
        if kind is None or (kind == "loopback" and self._is_shim(port)):
            return None
        where = f"`{host}`" if host == str(ip) else f"`{host}` ({ip})"
        return f"{where} is a {kind} address; to allow it, add `--allow-host {host}`"

    def is_listener(self, address: str, port: int) -> bool:
        """Does this engine listen there itself?"""
        if port not in self.listeners or not is_local(address):
            return False
        try:
            ip = _plain(ipaddress.ip_address(address.partition("%")[0]))
        except ValueError:
            return True  # a name of this machine, which may be looked up to either
        return self.family in (0, ip.version) or any(one.version == self.family for one in embedded(ip))

    def check_literal(self, host: str, port: int) -> str | None:
        """The same for a host that is itself an address; None for names."""
        if ":" not in host and not host[-1:].isdigit():  # as nearly every name, and no address
            return None
        try:
            ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return None
        return self.check(host, port, host)

    def filter(self, host: str, port: int, infos: Infos) -> Infos:
        """The results of a look-up that may be connected to. Raises Refused where none is left."""
        kept: Infos = []
        why = None
        for info in infos:
            refusal = self.check(host, port, str(info[4][0]))
            if refusal is None:
                kept.append(info)
            else:
                why = why or refusal
        if not kept and why is not None:
            raise Refused(why)
        return kept

    def _is_shim(self, port: int) -> bool:
        return self.shims is not None and (self.shims / str(port)).is_file()

    def _is_workbench(self, address: str, port: int) -> bool:
        if self.workbenches is None or not is_local(address):
            return False
        try:
            fd = os.open(self.workbenches / str(port), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # it is there, and cannot be looked at
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False  # what one left behind that was killed

    def _allowed(self, host: str, port: int) -> bool:
        name = host.lower()
        if (name, port) in self.targets:
            return True
        return any(glob_match(rule, name) or glob_match(rule, f"{name}:{port}") for rule in self.allow_hosts)


def covers(patterns: Iterable[str], host: str) -> bool:
    """Does one of these lower-case names or patterns cover a host?"""
    name = host.lower()
    return any(glob_match(pattern, name) for pattern in patterns)


def family_of(host: str) -> int:
    """The version of IP in which a socket that is bound to a host listens: 4 or 6; 0 for a name, which may
    be bound in both."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).version
    except ValueError:
        return 0


def is_local(host: str) -> bool:
    """Is this a name (RFC 6761 §6.3) or an address of this machine? Nothing is looked up."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ip = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return any(one.is_loopback or one.is_unspecified for one in (*embedded(ip), ip))


def private(ip: Address) -> str | None:
    """What makes an address one of this machine or its networks, in a word; None for public ones."""
    kinds = (special(one) for one in (*embedded(ip), ip))
    return next((word for word in kinds if word is not None), None)


def _plain(ip: Address) -> Address:
    """The IPv4 address that a mapped IPv6 one is: for the system both are the same."""
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


def _endpoint(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
