"""Secrets in header fields and paths, where a name may tell them and most of what looks random is harmless.

A field is looked through as `name : value`, a pair of a query as `name=value`. Identifiers and what servers
say about themselves are full of digests and of names of services, so there only shapes count; identifiers
of requests, which SDKs read and people quote, are left to the shapes of providers' keys.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact.edit import edits_of
from faultwire.tape.redact.search import search

if TYPE_CHECKING:
    from faultwire.tape.redact.edit import Edit


@lru_cache(maxsize=4096)
def has_secret_path(host: str) -> bool:
    """May a path at this host be a secret as a whole?"""
    return _core.has_secret_path(host)


def field_edits(name: str, value: str) -> list[Edit]:
    """Where the secrets are in the value of a header field."""
    return edits_of(search().field_edits(name, value))


def path_edits(path: str, origin: str = "") -> list[Edit]:
    """Where they are in a path with its query. `origin` (`https://host`): some are known only behind it."""
    return edits_of(search().path_edits(path, origin))


def url_edits(text: str) -> list[Edit]:
    """Where they are in a URL, or a path with its query: by shape anywhere, by name in the query's pairs."""
    return edits_of(search().address_edits(text))
