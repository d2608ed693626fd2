"""What of the connections that an agent's processes were seen to have went past this proxy.

Whoever watched the processes tells all their peers; only the engine knows its own listeners, what it reached
itself and under which name. Pure: addresses in, addresses out.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import Field, IPvAnyAddress

from faultwire.events import Bypass
from faultwire.profile.entry_model import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from faultwire.mitm.network.egress_guard import Guard
    from faultwire.profile.entry_model import Globs
    from faultwire.profile.model import Profile

MOST = 10_000
"""Addresses in one message."""
REMEMBERED = 4096
"""Addresses that the proxy reached and remembers."""
MAX_COUNT = 2**53 - 1
_SAME = 1024
"""Addresses of which is remembered what they are: every cell is seen connected to the same few."""
_USUAL = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Peer(Frozen):
    """An address that a process was connected to."""

    address: IPvAnyAddress
    port: int = Field(ge=1, le=65535)
    transport: Literal["tcp", "udp"] = "tcp"


class CloseSettings(Frozen):
    """A session to close; `seen` are the peers of its agent's processes, and `more` of them are not named."""

    name: str
    seen: tuple[Peer, ...] = Field(default=(), max_length=MOST)
    more: int = Field(default=0, ge=0, le=MAX_COUNT)


class Reached:
    """The addresses that the proxy itself has connected to, with the names by which it was asked for them."""

    def __init__(self) -> None:
        self._names: dict[str, str | None] = {}
        self.places: set[tuple[str, int]] = set()

    def note(self, host: str, address: str, port: int) -> None:
        """It connected to an address on behalf of a host."""
        plain = _plain(address)
        if plain is None or len(self.places) >= REMEMBERED:
            return
        self.places.add((plain, port))
        if _plain(host) is None:
            # Of several names at one address nobody knows which one somebody else meant.
            self._names[plain] = host if self._names.get(plain, host) == host else None

    def name(self, address: str) -> str | None:
        """The only name under which it reached this address."""
        return self._names.get(address)


def past_us(
    profile: Profile, seen: Iterable[Bypass], reached: Reached, guard: Guard, listen: str
) -> tuple[Bypass, ...]:
    """Those that went past the proxy, which listens at `listen`, with their names where these are known.

    On this machine a connection counts only where it leads to something that the run has to do with: a tool
    or an agent of the profile, a base URL that was declared, or a place that the proxy reached.
    """
    found = [one for one in seen if not _ours(one, listen, guard.listeners)]
    if not found:
        return ()
    known = local_ports(profile, guard.targets)
    past = (one for one in found if not _local(one.address) or _is_known(one, reached, known))
    return tuple(Bypass(one.address, one.port, one.transport, reached.name(one.address)) for one in past)


def local_ports(profile: Profile, targets: Iterable[tuple[str, int]] = ()) -> frozenset[int]:
    """Ports of this machine at which a profile's tools and agents are, or base URLs that were declared."""
    sites = [site.url for site in profile.tools.values()] + [site.url for site in profile.agents.values()]
    urls = (url for globs in sites for url in _each(globs))
    places = [*(_place(url) for url in urls), *targets]
    return frozenset(port for host, port in places if port and _is_this_machine(host))


def _ours(one: Bypass, listen: str, listeners: Collection[int]) -> bool:
    if one.port not in listeners:
        return False
    wide = ipaddress.ip_address(_plain(listen) or "0.0.0.0").is_unspecified
    return wide or _local(one.address) or one.address == _plain(listen)


def _is_known(one: Bypass, reached: Reached, known: Collection[int]) -> bool:
    return one.port in known or any(one.port == port and _local(address) for address, port in reached.places)


def _each(globs: Globs | None) -> tuple[str, ...]:
    return (globs,) if isinstance(globs, str) else globs or ()


def _place(url: str) -> tuple[str, int]:
    """Host and port of a glob over URLs; no port where the glob leaves it open."""
    scheme, between, rest = url.partition("://")
    try:
        parts = urlsplit(f"//{rest if between else url}")
        return parts.hostname or "", parts.port or _USUAL.get(scheme if between else "http", 0)
    except ValueError:
        return "", 0


def _is_this_machine(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost") or _local(host)


@lru_cache(_SAME)
def _local(host: str) -> bool:
    plain = _plain(host)
    return plain is not None and ipaddress.ip_address(plain).is_loopback


@lru_cache(_SAME)
def _plain(host: str) -> str | None:
    """An address as text, the IPv4 one where it is mapped into IPv6; None for a name."""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)
