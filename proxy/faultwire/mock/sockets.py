"""Which WebSockets the mock speaks, and who may open one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Answer, Session
from faultwire.mock.openai_responses import OpenAIResponsesDialect
from faultwire.mock.realtime import RealtimeSession
from faultwire.mock.responses_socket import ResponsesSession
from faultwire.wire.editing.answers import made_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Request
    from faultwire.mock._api import Conversation, Reply

    Replying = Callable[[Conversation], Reply]

_KEY_IN_PROTOCOL = "openai-insecure-api-key."
_RESPONSES = OpenAIResponsesDialect()


class Endpoint(NamedTuple):
    """Where one is spoken, and what people call it."""

    protocol: str
    path: str
    provider: str
    subprotocols: tuple[str, ...] = ()


ENDPOINTS = (
    Endpoint("realtime", "/realtime", "OpenAI Realtime", ("realtime",)),
    Endpoint("responses_socket", "/responses", "OpenAI Responses over a WebSocket"),
)


def answer(request: Request, replying: Replying) -> Answer:
    """101 and a session. Raises Refused."""
    from faultwire.mock.websocket import handshake  # wsproto is not needed for the rest

    path = request.path.partition("?")[0].rstrip("/")
    endpoint = next((one for one in ENDPOINTS if path.endswith(one.path)), None)
    if endpoint is None:
        raise _shared.refuse(wire.protocol("realtime"), f"Invalid URL ({request.method} {path})", 404)
    protocol = wire.protocol(endpoint.protocol)
    if not _has_key(request):
        raise _shared.refuse(protocol, "Missing bearer or basic authentication in header", 401)
    headers = handshake(request, endpoint.subprotocols)
    if headers is None:
        raise _shared.refuse(protocol, "The upgrade is not of WebSocket version 13.", 400)
    named = ("x-request-id", made_id("req_", request.path, length=32))
    return Answer(101, (*headers, named), session=_session(endpoint, request, replying))


def _session(endpoint: Endpoint, request: Request, replying: Replying) -> Session:
    if endpoint.protocol == "realtime":
        return RealtimeSession(request, replying)
    return ResponsesSession(request, _RESPONSES, replying)


def _has_key(request: Request) -> bool:
    """In a header, or where a browser can put it: a subprotocol or, on Azure, the query."""
    query = parse_qs(request.path.partition("?")[2])
    return bool(
        _shared.bearer(request)
        or header(request.headers, "api-key")
        or _KEY_IN_PROTOCOL in (header(request.headers, "sec-websocket-protocol") or "")
        or query.get("api-key")
        or query.get("Authorization")
    )
