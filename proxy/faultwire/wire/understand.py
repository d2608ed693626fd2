"""Everything that is known of a request once its body is there: what it is, what it says, and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.errors import WireError
from faultwire.events import with_held
from faultwire.wire import protocol_retries
from faultwire.wire.classify import classify
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import size_limit
from faultwire.wire.recognition.fingerprint import fingerprint
from faultwire.wire.recognition.placeholders import unkeyed_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Kind, Request, RequestView
    from faultwire.wire.classify import Site
    from faultwire.wire.conversation_history import ConversationHistory
    from faultwire.wire.recognition.peers import Peers


_REMEMBERED = 1 << 20
"""Bytes of a request up to which its conversation is remembered: a session keeps a few of them."""


class Understanding(NamedTuple):
    """As in `events.Exchange`; `view` is None where nobody can read the request."""

    kind: Kind
    protocol: Protocol | None
    provider: str | None
    tool: str | None
    view: RequestView | None
    key: str
    agent: str | None = None
    unread: str | None = None
    """Why nobody looked into the body, where that is so."""


def understand(
    request: Request,
    tools: Mapping[str, Site] | None = None,
    agents: Mapping[str, Site] | None = None,
    peers: Peers | None = None,
    earlier: ConversationHistory | None = None,
    *,
    view: bool = True,
) -> Understanding:
    """Classify, view and fingerprint a whole request: on its way, or from a tape.

    `tools` and `agents` are the user's own words, `peers` those of cards, as for `classify`; what `earlier`
    requests of the session held is not read again. A body that is too heavy to be read while others wait is
    not looked into: then the head decides. Without `view` nobody views the request.
    """
    body = request.body
    heavy = body is not None and len(body) > size_limit.MOST and size_limit.is_heavy(body)
    found = classify(with_held(request, None) if heavy else request, tools or {}, agents or {}, peers)
    seen = None
    if view and found.protocol is not None and not heavy:
        seen = view_of(found.protocol, request, earlier)
    key = fingerprint(unkeyed_request(request), found.kind, found.protocol)
    why = size_limit.WHY if heavy else None
    return Understanding(found.kind, found.protocol, found.provider, found.tool, seen, key, found.agent, why)


def view_of(protocol: Protocol, request: Request, earlier: ConversationHistory | None) -> RequestView | None:
    """As the protocol views it. Where a tape's readers see something else in it, that is of no use here."""
    same = type(protocol).transcript is Protocol.transcript
    try:
        if earlier is None or not same or len(request.body or b"") > _REMEMBERED:
            return protocol.view(request)
        return protocol.transcript_after(request, earlier)
    except WireError:
        # The agent's own malformed request is its business and the provider's; it goes on
        # unchanged, faultable by everything that needs no view.
        return None


def attempt(request: Request, protocol: Protocol | None) -> int | None:
    """The retries that came before, as the protocol's SDKs tell them, or any SDK's for no protocol."""
    return protocol_retries.retry_count(request.headers) if protocol is None else protocol.attempt(request)
