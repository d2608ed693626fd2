"""Which header fields, query parameters and body keys are secret by their name."""

from __future__ import annotations

from functools import lru_cache

from faultwire import _core


@lru_cache(maxsize=4096)
def header_class(name: str) -> str | None:
    """`header` if a field of this name is secret."""
    return _core.header_class(name)


@lru_cache(maxsize=4096)
def query_class(name: str) -> str | None:
    """`query` if a query parameter or form field of this (encoded) name is secret."""
    return _core.query_class(name)


def key_offered(value: str) -> tuple[str, str, str]:
    """Split a list of WebSocket subprotocols around the key in it; no key, no parts after the first."""
    before, key, after = _core.key_offered(value)
    return before, key, after


def kept_scheme(value: str) -> tuple[str, str]:
    """Split an authorization value into the scheme, which says nothing secret, and the rest."""
    scheme, rest = _core.kept_scheme(value)
    return scheme, rest
