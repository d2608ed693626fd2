"""What kind of traffic a request is, and whose.

Decided from the head alone where the body is not held; then `may_be_model` says whether the body
could still change the answer. Telemetry, model lists, token counts and the like are `other`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.events import header
from faultwire.wire import _recognise
from faultwire.wire._registry import protocols

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol as Structure

    from faultwire.events import Kind, Request
    from faultwire.wire._api import Protocol

    class Site(Structure):
        """Where a tool is found; `profile.model.ToolSite` is one."""

        @property
        def url(self) -> str | tuple[str, ...] | None:
            """Globs over the URL, with or without its query."""


@dataclass(frozen=True, slots=True)
class Classified:
    """The kind of a request; `protocol` and `provider` for `llm`, `tool` for `tool`."""

    kind: Kind
    protocol: Protocol | None = None
    provider: str | None = None
    tool: str | None = None


_OTHER = Classified("other")
_NO_TOOLS: Mapping[str, Site] = MappingProxyType({})


_BY_BODY = ("/messages", "/responses", "/api/chat", "/api/generate", "/api/embed", "/v2/chat")
"""Paths that services of other kinds have, too: there the body decides."""


def classify(request: Request, tools: Mapping[str, Site] = _NO_TOOLS) -> Classified:
    """The kind of a request. `tools` are the user's own words and go before recognition."""
    tool = _tool(request, tools) if tools else None
    if tool is not None:
        return Classified("tool", tool=tool)
    if request.method != "POST":
        return _OTHER
    for protocol in protocols().values():
        if protocol.recognise(request):
            return Classified("llm", protocol, protocol.provider(request))
    return _OTHER


def may_be_model(head: Request) -> bool:
    """Could the body of an `other` request still show that it is model traffic?

    Only JSON can be a conversation, and only where the path does not say what it is.
    """
    if head.method != "POST" or "json" not in (header(head.headers, "content-type") or "").lower():
        return False
    path = _recognise.bare_path(head)
    return path.endswith(_BY_BODY) or not _recognise.is_settled(path)


def _tool(request: Request, tools: Mapping[str, Site]) -> str | None:
    url = request.url
    bare = url.partition("?")[0]
    for name, site in tools.items():
        globs = (site.url,) if isinstance(site.url, str) else site.url or ()
        if any(_core.glob_match(glob, url) or _core.glob_match(glob, bare) for glob in globs):
            return name
    return None
