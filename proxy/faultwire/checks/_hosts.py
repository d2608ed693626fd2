"""Hosts and places as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from faultwire._core import glob_match

if TYPE_CHECKING:
    from faultwire.events import Recorded


def _places(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        if "://" in pattern:
            raise ValueError(f"found a URL in `{pattern}`, expected a host or `host/path*`")
    return tuple(pattern.lower() if "/" not in pattern else pattern for pattern in patterns)


Places = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], AfterValidator(_places)]
"""Globs over hosts (`*.example.com`), hosts with a port (`localhost:5001`), or `host/path`."""


def matched(exchange: Recorded, patterns: tuple[str, ...]) -> str | None:
    """The first of the patterns that an exchange's destination fits."""
    request = exchange.request
    host = request.host.lower().rstrip(".")
    path = request.path.split("?", 1)[0]
    names = (host, f"{host}:{request.port}")
    for pattern in patterns:
        if "/" in pattern:
            if any(glob_match(pattern, name + path) for name in names):
                return pattern
        elif any(glob_match(pattern, name) for name in names):
            return pattern
    return None
