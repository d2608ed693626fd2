"""Secrets in header fields and paths, where a name may tell them and most of what looks random is harmless.

A field is looked through as `name : value`, a pair of a query as `name=value`. Identifiers and what servers
say about themselves are full of digests and of names of services, so there only shapes count; identifiers
of requests, which SDKs read and people quote, are left to `redact_values`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from faultwire.tape.redact.edit import Edit, merged
from faultwire.tape.redact.known_keys import known_edits, shaped_edits
from faultwire.tape.redact.text import edits, suspects
from faultwire.tape.redact.url import pair_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IDENTIFIERS = re.compile(
    r"(?:.*[_-])?(?:request|trace|span|parent|correlation|transaction|operation|invocation|message|response)"
    r"[_-]?id(?:-2)?|.*-(?:ray|trace)|traceparent|x-cloud-trace-context|x-b3-.*|uber-trace-id|sentry-trace"
)
"""Names of fields that identify a request or a part of one."""

_INFRASTRUCTURE = re.compile(
    r".*[_-]?id|.*digest|.*-(?:md5|sha1|sha256|hash|checksum.*)|etag|if-.*|date|expires|last-modified|age|vary"
    r"|content-.*|.*-policy(?:-report-only)?|report-to|reporting-endpoints|nel|server.*|via|x-cache.*|x-served-by"
    r"|x-timer|alt-svc|tracestate|baggage|user-agent|x-stainless-.*|host|accept.*|strict-transport-security"
    r"|x-powered-by|.*ratelimit.*|.*-version|.*-region"
)
"""Names of fields in which a name of a service says nothing about what stands beside it."""

_ADDRESSES = frozenset({"location", "content-location", "referer", "origin", "link"})
"""Fields that hold URLs."""

_SECRET_PATHS = (".slack.com", "discord.com", "discordapp.com", ".webhook.office.com", "api.telegram.org")
"""Hosts whose paths are secrets, or hold some right behind a word."""

_BEHIND = "/bot"
"""The word: `/bot123456789:…/getMe`."""

_JOINT = " : "
"""The same as in the core: what it makes of a field decides whether this looks at all."""

_NONE, _SHAPES, _URLS, _ALL = range(4)


@lru_cache(maxsize=4096)
def _looked(name: str) -> int:
    bare = name.strip().lower()
    if _IDENTIFIERS.fullmatch(bare):
        return _NONE
    if bare in _ADDRESSES:
        return _URLS
    return _SHAPES if _INFRASTRUCTURE.fullmatch(bare) else _ALL


@lru_cache(maxsize=4096)
def has_secret_path(host: str) -> bool:
    """May a path at this host be a secret as a whole?"""
    return host.lower().rstrip(".").endswith(_SECRET_PATHS)


def field_edits(name: str, value: str) -> list[Edit]:
    """Where the secrets are in the value of a header field."""
    looked = _looked(name)
    if looked == _URLS:
        return url_edits(value)
    if looked != _ALL:
        return _in(value, shaped_edits if looked == _SHAPES else _nothing)
    ahead = len(name) + len(_JOINT)
    named = [edit for edit in known_edits(f"{name}{_JOINT}{value}") if edit.start >= ahead]
    return merged(_in(value, known_edits) + [_moved(edit, -ahead) for edit in named])


def path_edits(path: str, origin: str = "") -> list[Edit]:
    """Where they are in a path with its query. `origin` (`https://host`): some are known only behind it."""
    found = url_edits(path)
    if origin:
        ahead = len(origin)
        whole = [_moved(edit, -ahead) for edit in shaped_edits(origin + path)]
        behind = path.find(_BEHIND) + len(_BEHIND)
        if behind >= len(_BEHIND):
            whole += [_moved(edit, behind) for edit in shaped_edits(path[behind:])]
        # The slash stays: a path begins with one.
        found += [edit._replace(start=max(edit.start, 1), value=path[max(edit.start, 1) : edit.end])
                  for edit in whole if edit.end > 1]  # fmt: skip
    return merged(found)


def url_edits(text: str) -> list[Edit]:
    """Where they are in a URL, or a path with its query: by shape anywhere, by name in the query's pairs."""
    return merged(_in(text, shaped_edits) + list(_pairs(text)))


def _pairs(text: str) -> Iterator[Edit]:
    at = text.find("?") + 1
    for pair in text[at:].split("&") if at else ():
        found = known_edits(pair)
        yield from (_moved(edit, at) for edit in found)
        name, _, value = pair.partition("=")
        if not found and (what := pair_class(name, value)):
            yield Edit(at + len(name) + 1, at + len(pair), what, value)
        at += len(pair) + 1


def _in(text: str, known: Callable[[str], list[Edit]]) -> list[Edit]:
    return edits(text, known=known) if suspects(text) else []


def _nothing(_: str) -> list[Edit]:
    return []


def _moved(edit: Edit, by: int) -> Edit:
    return edit._replace(start=edit.start + by, end=edit.end + by, lead=-1)
