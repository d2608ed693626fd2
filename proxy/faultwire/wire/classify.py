"""What kind of traffic a request is, and whose.

Decided from the head alone where the body is not held; then `may_be_model` says whether the body
could still change the answer. Telemetry, model lists, token counts and the like are `other`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import Response, header
from faultwire.plugins.frozen import dataclass
from faultwire.wire.framing import content_coding, split as framing
from faultwire.wire.mcp import http as mcp
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.registry import protocols

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol as Structure

    from faultwire.events import Delivery, Kind, Request
    from faultwire.wire.protocol import Protocol
    from faultwire.wire.recognition.peers import Peers

    class Site(Structure):
        """Where a tool or an agent is found; `profile.model.ToolSite` is one."""

        @property
        def url(self) -> str | tuple[str, ...] | None:
            """Globs over the URL, with or without its query."""


@dataclass(frozen=True, slots=True)
class Classified:
    """The kind of a request; `protocol` and `provider` where one is spoken, `tool` for `tool`, `agent` (the
    peer's name) for `agent`."""

    kind: Kind
    protocol: Protocol | None = None
    provider: str | None = None
    tool: str | None = None
    agent: str | None = None


_OTHER = Classified("other")
_NO_TOOLS: Mapping[str, Site] = MappingProxyType({})


def classify(
    request: Request,
    tools: Mapping[str, Site] = _NO_TOOLS,
    agents: Mapping[str, Site] = _NO_TOOLS,
    peers: Peers | None = None,
) -> Classified:
    """The kind of a request. `tools` and `agents` are the user's own words and go before recognition;
    `peers` are the agents whose cards were seen, and only name what nothing else names."""
    tool = _named(request, tools) if tools else None
    if tool is not None:
        return Classified("tool", tool=tool)
    agent = _named(request, agents) if agents else None
    peer = peers.name(request.url) if peers is not None and peers.names else None
    method = request.method
    for protocol in protocols().values():
        if method not in protocol.methods:
            continue
        if protocol.recognise(request) or (peer is not None and protocol.recognise_peer(request)):
            role, called = protocol.role(request)
            kind = role if agent is None else "agent"
            known = (agent or peer or request.host) if kind == "agent" else None
            tool = called if kind == "tool" else None
            return Classified(kind, protocol, protocol.provider(request), tool, known)
    return _OTHER if agent is None else Classified("agent", agent=agent)


def may_be_model(head: Request) -> bool:
    """Could the body of an `other` request still show that it is model traffic?

    Only JSON can be a conversation, and only where the path does not say what it is, or where a client of
    MCP says in its headers that a message may come.
    """
    if head.method != "POST" or "json" not in (header(head.headers, "content-type") or "").lower():
        return False
    path = recognition.bare_path(head)
    return recognition.is_contested(path) or not recognition.is_settled(path) or mcp.may_speak(head)


def _named(request: Request, sites: Mapping[str, Site]) -> str | None:
    url = request.url
    bare = url.partition("?")[0]
    for name, site in sites.items():
        globs = (site.url,) if isinstance(site.url, str) else site.url or ()
        if any(_core.glob_match(glob, url) or _core.glob_match(glob, bare) for glob in globs):
            return name
    return None


def revoked(protocol: Protocol, kind: str, request: Request, delivery: Delivery | None) -> str | None:
    """Why an exchange is not what its request seemed to be, now that the server's answer is known; None
    where it is. Only what was taken for a model's can turn out to be none: tools and agents are named by
    their users, and by words that nobody else speaks."""
    if kind != "llm" or delivery is None or recognition.provider_of(request.host) is not None:
        return None
    if not 200 <= delivery.status < 300:
        return None
    body = delivery.body
    try:
        if content_coding.is_encoded(delivery.headers):
            body, _ = content_coding.at_once(body, delivery.headers)
    except WireError:
        return None
    if (
        protocol.confirms(Response(delivery.status, delivery.reason, delivery.headers, body), request)
        is not False
    ):
        return None
    kind_of = framing.content_type(delivery.headers) or "no media type"
    return f"its request seemed to be of `{protocol.name}`, its answer ({kind_of}) is not"
