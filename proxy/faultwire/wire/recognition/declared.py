"""What the known protocols declare of hosts, paths and texts, for recognition to look up.

The registry imports every protocol, and protocols look hosts up to recognise a request. So this file knows
neither: the registry, which is imported with the package, says where the declarations come from.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Declares(Protocol):
    """What declares it: a `wire.protocol.Protocol`, where each member is described."""

    @property
    def hosts(self) -> tuple[tuple[str, str], ...]:
        """Domains and the provider that runs them."""

    @property
    def settled(self) -> tuple[str, ...]:
        """Endings of paths that say what a request is."""

    @property
    def by_body(self) -> tuple[str, ...]:
        """Those of them with which the body decides."""

    @property
    def text_members(self) -> frozenset[str]:
        """JSON members that carry text in a stream."""


class Declared(NamedTuple):
    """What all protocols declare, gathered. Longer domains go before shorter ones."""

    hosts: tuple[tuple[str, str], ...]
    settled: tuple[str, ...]
    by_body: tuple[str, ...]
    text_members: frozenset[str]


_UNCLAIMED_TEXT = frozenset(("content", "delta", "output", "text", "token"))
"""Members that carry text in the streams of servers whose protocol is none of these."""


def gathered(known: Iterable[Declares]) -> Declared:
    """What these protocols declare; of two that claim a domain the first one has it."""
    each = tuple(known)
    hosts = (host for one in each for host in one.hosts)
    return Declared(
        hosts=tuple(sorted(hosts, key=lambda host: -len(host[0]))),
        settled=tuple(dict.fromkeys(path for one in each for path in one.settled)),
        by_body=tuple(dict.fromkeys(path for one in each for path in one.by_body)),
        text_members=frozenset(_UNCLAIMED_TEXT.union(*(one.text_members for one in each))),
    )


_sources: list[Callable[[], Iterable[Declares]]] = []


def provide(source: Callable[[], Iterable[Declares]]) -> None:
    """Say where the known protocols are found; called once, by the registry."""
    _sources.append(source)


@cache
def declared() -> Declared:
    """What the known protocols declare. Raises FaultError where a plug-in fails to load."""
    if not _sources:
        raise FaultwireError("no protocols are known yet, expected `faultwire.wire` to be imported first")
    return gathered(_sources[-1]())
