"""Does an exchange match what an entry is about? Pure string work, no session, no chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire._core import glob_match
from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Exchange
    from faultwire.profile.model import Globs, On


def _globs(globs: Globs | None, value: str | None) -> bool:
    if globs is None:
        return True
    if value is None:
        return False
    return any(glob_match(glob, value) for glob in ((globs,) if isinstance(globs, str) else globs))


def mismatch(on: On, exchange: Exchange, *, tool: str | None = None) -> str | None:
    """The first key of `on` that the request does not match, or None where all match.

    Keys on the response are left to `decide_head`. `tool` is the name of a result's tool.
    """
    request, view = exchange.request, exchange.view
    if on.kind is None and exchange.kind == "other" and not (on.host or on.path or on.url or on.method):
        return "kind"
    if on.kind is not None and on.kind != exchange.kind:
        return "kind"
    if on.stream is not None and (view is None or view.stream != on.stream):
        return "stream"
    fields: tuple[tuple[str, Globs | None, str | None], ...] = (
        ("provider", on.provider, exchange.provider),
        ("model", on.model, view.model if view else None),
        ("host", on.host, request.host),
        ("method", on.method, request.method),
        ("path", on.path, request.path.split("?", 1)[0]),
        ("url", on.url, request.url),
        ("session", on.session, exchange.session),
        ("tool", on.tool, tool if tool is not None else exchange.tool),
    )
    for name, globs, value in fields:
        if not _globs(globs, value):
            return name
    for name, glob in (on.header or {}).items():
        if not _globs(glob, header(request.headers, name)):
            return f"header {name}"
    return None


def may_match(on: On, exchange: Exchange) -> bool:
    """Could this entry match once the body is known? Judged from the request head alone."""
    request = exchange.request
    named = on.host or on.path or on.url or on.method
    if exchange.kind == "other" and on.kind != "other" and not named:
        return False
    if on.kind is not None and exchange.kind not in (on.kind, "other"):
        return False
    return (
        _globs(on.host, request.host)
        and _globs(on.method, request.method)
        and _globs(on.path, request.path.split("?", 1)[0])
        and _globs(on.url, request.url)
        and _globs(on.session, exchange.session)
    )


def needs_response(on: On) -> bool:
    """Can this only be decided once the response head is there?"""
    return on.status is not None


def response_mismatch(on: On, exchange: Exchange) -> str | None:
    """The first response key that does not match; None where all do or there is no response yet."""
    if on.status is None or exchange.response is None:
        return None
    wanted = (on.status,) if isinstance(on.status, int) else on.status
    return None if exchange.response.status in wanted else "status"
