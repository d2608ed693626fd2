"""Hosts and places as people write them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from faultwire._core import glob_match
from faultwire.checks._api import quoted, unknown

if TYPE_CHECKING:
    from faultwire.events import Bypass, History, Recorded, Verdict


def _places(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        if "://" in pattern:
            raise ValueError(f"found a URL in `{pattern}`, expected a host or `host/path*`")
    return tuple(pattern.lower() if "/" not in pattern else pattern for pattern in patterns)


Places = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], AfterValidator(_places)]
"""Globs over hosts (`*.example.com`), hosts with a port (`localhost:5001`), or `host/path`."""

_SHORT = 256
"""Characters of paths that are kept in mind."""


def past_the_proxy(history: History, allowed: tuple[str, ...] = ()) -> Verdict | None:
    """Unknown where processes of the agent were seen connected past the proxy, except to allowed addresses:
    nobody knows what went there."""
    found = [one.text for one in history.bypassed if not _listed(one, allowed)]
    if not found:
        return None
    return unknown(f"there were connections past the proxy, to {quoted(', '.join(found[:3]), 160)}", found)


def _listed(one: Bypass, patterns: tuple[str, ...]) -> bool:
    """Only an address is certain: several names may lead to it."""
    names = (one.address, f"{one.address}:{one.port}")
    return any(glob_match(pattern, name) for pattern in patterns if "/" not in pattern for name in names)


def matched(exchange: Recorded, patterns: tuple[str, ...]) -> str | None:
    """The first of the patterns that an exchange's destination fits."""
    if not patterns:
        return None
    request = exchange.request
    path = request.path.split("?", 1)[0]
    find = _known if len(path) <= _SHORT else _matched
    return find(request.host, request.port, path, patterns)


def _matched(host: str, port: int, path: str, patterns: tuple[str, ...]) -> str | None:
    host = host.lower().rstrip(".")
    names = (host, f"{host}:{port}")
    for pattern in patterns:
        if "/" in pattern:
            if any(glob_match(pattern, name + path) for name in names):
                return pattern
        elif any(glob_match(pattern, name) for name in names):
            return pattern
    return None


_known = lru_cache(maxsize=512)(_matched)
"""Agents talk to few places, and to those again and again."""
