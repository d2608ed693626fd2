"""What several faults ask about the protocol of an exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.wire.editing import plain_errors
from faultwire.wire.framing import grpc_status, split as framing
from faultwire.wire.grpc import errors as grpc_errors
from faultwire.wire.recognition import recognise as recognition

if TYPE_CHECKING:
    from faultwire.events import Exchange, Response
    from faultwire.wire.editing.api import Ability, Failure
    from faultwire.wire.protocol import Protocol


def protocol_of(exchange: Exchange) -> Protocol | None:
    """The protocol that the exchange speaks, None where it is none of ours."""
    return wire.protocol(exchange.protocol) if exchange.protocol else None


def error_answer(
    exchange: Exchange, status: int, *, message: str | None = None, retry_after_s: float | None = None
) -> Response:
    """The error that the other side of this exchange would send, in its own shape."""
    protocol = protocol_of(exchange)
    if protocol is None and grpc_status.is_grpc(exchange.request.headers):  # a tool that is called so
        return grpc_errors.error(status, message, retry_after_s)
    if protocol is None:
        return plain_errors.error(status, message=message, retry_after_s=retry_after_s)
    return protocol.error_to(
        exchange.request, exchange.provider, status, message=message, retry_after_s=retry_after_s
    )


def is_stream(exchange: Exchange, response: Response) -> bool:
    """Is a response to this exchange's request a framed stream, or a WebSocket?"""
    return framing.is_socket(response) or framing.streams(response, protocol_of(exchange), exchange.request)


def no_stream(exchange: Exchange) -> str | None:
    """Why a fault on single events cannot act here, or None."""
    response = exchange.response
    if response is not None:
        protocol = wire.protocol(exchange.protocol) if exchange.protocol else None
        splitter = framing.splitter_of(response, protocol, exchange.request)
        if splitter is None and not framing.is_socket(response):
            return "the response is no stream"
    if exchange.view is not None and not exchange.view.stream:
        return "the request asks for no stream"
    return None


def no_answer(exchange: Exchange) -> str | None:
    """Why a fault on the model's answer cannot act here, or None."""
    if protocol_of(exchange) is None:
        return "the exchange speaks no known model protocol"
    if exchange.response is not None and exchange.response.status >= 300:
        return f"the response has status {exchange.response.status}"
    return None


def no_body(exchange: Exchange) -> str | None:
    """Why a fault on a whole body cannot act here, or None."""
    if exchange.response is not None and is_stream(exchange, exchange.response):
        return "the response is a stream"
    if exchange.view is not None and exchange.view.stream:
        return "the request asks for a stream"
    return None


def cannot(exchange: Exchange, ability: Ability) -> str | None:
    """Why an edit cannot be made in this exchange's protocol, or None."""
    protocol = protocol_of(exchange)
    if protocol is None:
        return "the exchange speaks no known model protocol"
    if not protocol.edits.can(ability):
        return f"not supported for `{protocol.name}`"
    return None


def no_texts(exchange: Exchange) -> str | None:
    """Why the texts of this request cannot be changed, or None."""
    if wire.is_signed(exchange.request):
        return wire.SIGNED
    return wire.HEAVY if wire.is_heavy(exchange.request.body) else cannot(exchange, "texts")


def kept_by_provider(exchange: Exchange) -> tuple[str, str] | None:
    """The member by which the request names a conversation that the provider keeps, and the name in it."""
    protocol = protocol_of(exchange)
    document = (
        recognition.document(exchange.request.body) if protocol and protocol.conversation_members else None
    )
    for member in protocol.conversation_members if protocol is not None else ():
        value = (document or {}).get(member)
        name = value.get("id") if isinstance(value, dict) else value
        if isinstance(name, str) and name:
            return member, name
    return None


def failure_answer(exchange: Exchange, what: Failure, message: str | None = None) -> Response | None:
    """The provider's answer for a named failure, None where it has none."""
    protocol = protocol_of(exchange)
    return protocol.edits.failure(what, message=message) if protocol else None
