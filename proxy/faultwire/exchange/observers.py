"""What is heard of a response because later exchanges depend on it, though nothing is done to this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.exchange import agent_cards
from faultwire.exchange.agent_cards import AgentCardObserver
from faultwire.exchange.websocket_requests import WebSocketRequestRewriter
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import ResponseObserver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Exchange, Request, Response
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.request_out import SessionContext
    from faultwire.wire.protocol import Protocol


class Observers(NamedTuple):
    """Who listens: to what is delivered (`ear`), and to what a client says over a WebSocket (`telling`).

    `whole`: the body must be there whole for it.
    """

    ear: ResponseObserver | AgentCardObserver | None = None
    telling: WebSocketRequestRewriter | None = None
    whole: bool = False

    @property
    def touches(self) -> bool:
        """Must the response go through the pipeline for it?"""
        return self.ear is not None or self.telling is not None


def attach(
    context: SessionContext,
    protocol: Protocol | None,
    exchange: Exchange,
    delivered: Response,
    chain: Sequence[ActiveFault],
) -> Observers:
    """Who has to listen to this response. A conversation that the provider keeps names its calls only
    here: the next request names none."""
    request, profile = exchange.request, context.profile
    ear: ResponseObserver | AgentCardObserver | None = None
    whole = False
    if agent_cards.needs_card(profile, request):
        ear = AgentCardObserver(context.state.peers, delivered)
    if protocol is not None and profile.candidates.replace_results and protocol.keeps(request):
        ear = ResponseObserver(protocol, delivered, request)
        whole = not framing.streams(delivered, protocol, request)
    telling = None
    if protocol is not None and protocol.socket and framing.is_socket(delivered):
        telling = WebSocketRequestRewriter(protocol, context, exchange, chain)
        telling = telling if telling.needed else None
    return Observers(ear, telling, whole)


def closes(protocol: Protocol | None, request: Request, response: Response | None, delivered: bytes) -> bool:
    """Do these last bytes hold the event that closes the stream?"""
    if response is None or protocol is None:
        return False
    splitter = framing.splitter_of(response, protocol, request)
    return splitter is not None and any(map(protocol.is_terminal, framing.cut(delivered, splitter)))
