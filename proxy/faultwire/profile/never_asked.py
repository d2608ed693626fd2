"""What a fault itself says about exchanges that are as an entry wants them.

A fault may refuse exchanges for reasons that nothing declares. So it is asked about some of each protocol:
where it would act on one of them, but on none that the entry matches, the entry can never fire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import wire
from faultwire.events import Exchange, Request, RequestView, Response
from faultwire.profile.overlap import overlap
from faultwire.profile.points import kinds_of
from faultwire.profile.words import each
from faultwire.wire.framing import split as framing
from faultwire.wire.mcp.http import Mcp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Kind
    from faultwire.faults._api import Fault
    from faultwire.profile.entry_model import On
    from faultwire.profile.points import Point
    from faultwire.wire.protocol import Protocol

KEYS = (
    *("status", "stream", "method", "model", "turn", "text", "body"),
    *("site", "provider", "tool", "agent", "edge", "kind"),
)
"""Keys of `on` that rule some of the exchanges out which are made up here."""

A2A = frozenset(("a2a", "a2a_http"))
"""Protocols whose requests name no model."""
_USUAL = (200, 404, 500)
_SWITCHING = 101
_SOCKET = (("connection", "Upgrade"), ("upgrade", "websocket"))
_STREAM = (("content-type", "text/event-stream"),)
_JSON = (("content-type", "application/json"),)
_BODILESS = frozenset(("GET", "HEAD", "DELETE"))


class Refusal(NamedTuple):
    """`why` is the fault's own reason; None where there is no such exchange at all."""

    why: str | None


def refusal(fault: Fault, on: On, points: Iterable[Point]) -> Refusal | None:
    """Why the fault acts on no exchange that is as the entry wants it by `KEYS`; None where it may."""
    places = frozenset((point.kind, point.site) for point in points)
    if not any(fault.inapplicable(one) is None for one in _exchanges((True, False), _USUAL)):
        return None  # it looks at more than is made up here
    statuses = (on.status,) if isinstance(on.status, int) else on.status or _USUAL
    streams = (True, False) if on.stream is None else (on.stream,)
    why: str | None = None
    for exchange in _exchanges(streams, statuses):
        if _matches(on, exchange, places, messages="result" in fault.moments):
            refused = fault.inapplicable(exchange)
            if refused is None:
                return None
            why = why or refused
    return Refusal(why)


def _matches(
    on: On, exchange: Exchange, places: frozenset[tuple[Kind, str | None]], *, messages: bool
) -> bool:
    """May the entry match this exchange? `messages`: what is sent over a WebSocket counts as well."""
    request, view = exchange.request, exchange.view
    site = _site(exchange)
    result = (exchange.kind, "result")
    found = places & {(exchange.kind, site), (exchange.kind, None), result}
    socket = framing.wants_socket(request)
    if not found or (found == {result} and request.body is None and not (socket and messages)):
        return False  # what tools gave is told to a model in a body
    methods = each(on.method)
    if methods and (socket or exchange.protocol is not None) and not overlap(methods, (request.method,)):
        return False
    if exchange.protocol is None and on.provider is not None:
        return False
    talks = on.turn is not None or on.text is not None
    if view is None and (talks or on.stream is not None or on.model is not None):
        return False
    if exchange.protocol in A2A and on.model is not None and not overlap(each(on.model), ("",)):
        return False
    if request.body is not None or (socket and messages):
        return True
    if talks or on.body is not None:
        return False
    # A WebSocket is asked for without a body, and nothing has been said in it yet (RFC 6455 §4.1). What was
    # answered in the background can be fetched as a stream (OpenAI, `GET /v1/responses/{id}?stream=true`).
    fetched = request.method == "GET" and exchange.protocol == "openai_responses"
    return socket or (on.model is None and (on.stream is not True or fetched))


def _site(exchange: Exchange) -> str | None:
    if exchange.protocol == Mcp.name:
        return "mcp"
    return "http" if exchange.kind == "tool" else None


def _exchanges(streams: Iterable[bool], statuses: tuple[int, ...]) -> Iterator[Exchange]:
    for protocol in (*wire.protocols().values(), None):
        for request in _requests(protocol):
            socket = framing.wants_socket(request)
            for kind in _kinds(protocol, request):
                for stream in {True} & set(streams) if socket else streams:
                    for response in _responses(statuses, socket=socket):
                        yield _exchange(protocol, kind, request, response, stream=stream)


def _kinds(protocol: Protocol | None, request: Request) -> tuple[Kind, ...]:
    """What a request may be; an example shows which of the protocol's kinds it is."""
    if protocol is None or not protocol.examples:
        return tuple(sorted(kinds_of(protocol)))
    return protocol.role(request)[0], "agent"


def _requests(protocol: Protocol | None) -> Iterator[Request]:
    if protocol is not None and protocol.examples:
        yield from protocol.examples
        return
    if protocol is None or protocol.socket:
        yield Request("GET", "https", "host.example", 443, "/", _SOCKET)
    if protocol is None or not protocol.socket:
        for method in sorted(protocol.methods) if protocol is not None else ("POST", "GET"):
            body = None if method in _BODILESS else b"{}"
            yield Request(method, "https", "host.example", 443, "/", _JSON, body)


def _responses(statuses: tuple[int, ...], *, socket: bool) -> Iterator[Response]:
    for status in statuses:
        for headers in (_STREAM, _JSON):
            yield Response(status, headers=headers)
    if socket and (statuses is _USUAL or _SWITCHING in statuses):
        yield Response(_SWITCHING, headers=_SOCKET)


def _exchange(
    protocol: Protocol | None, kind: Kind, request: Request, response: Response, *, stream: bool
) -> Exchange:
    return Exchange(
        "profile",
        1,
        request,
        kind,
        protocol.name if protocol is not None else None,
        view=RequestView("model", stream) if protocol is not None and protocol.views else None,
        response=response,
        tool="tool" if kind == "tool" else None,
        agent="agent" if kind == "agent" else None,
    )
