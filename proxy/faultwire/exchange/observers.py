"""Observers of a response, where later exchanges depend on what it says, though nothing is done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Send
from faultwire.exchange import agent_cards
from faultwire.exchange.agent_cards import AgentCardObserver
from faultwire.exchange.stage import ExchangeState, Stage
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import ResponseObserver

if TYPE_CHECKING:
    from faultwire.events import Action, Request, Response
    from faultwire.wire.protocol import Protocol


class Observers(Stage):
    """Reads what is delivered: calls of conversations that the provider keeps, and agents' cards.

    A conversation that the provider keeps names its calls only here: the next request names none.
    """

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state)
        self.observer: ResponseObserver | AgentCardObserver | None = None

    def on_response_head(self, response: Response) -> Response:
        """Attach to upstream's response; an answer of ours tells nothing."""
        at = self.state
        if at.chain.answer is None:
            self._attach(at.exchange.request, response)
            self.touches = self.observer is not None
        return response

    def _attach(self, request: Request, delivered: Response) -> None:
        profile, protocol = self.state.context.profile, self.state.protocol
        if agent_cards.needs_card(profile, request):
            self.observer = AgentCardObserver(self.state.context.state.peers, delivered)
        if protocol is not None and profile.candidates.replace_results and protocol.keeps(request):
            self.observer = ResponseObserver(protocol, delivered, request)
            self.holds = not framing.streams(delivered, protocol, request)

    def observe(self, action: Action) -> None:
        """Bytes that are delivered; an end of ours tells nothing."""
        if self.observer is not None and isinstance(action, Send) and action.to == "client":
            self.state.context.state.learn(self.observer.observe(action.data))

    def finished(self) -> None:
        """All was delivered."""
        if self.observer is not None:
            self.state.context.state.learn(self.observer.end())


def closes(protocol: Protocol | None, request: Request, response: Response | None, delivered: bytes) -> bool:
    """Do these last bytes hold the event that closes the stream?"""
    if response is None or protocol is None:
        return False
    splitter = framing.splitter_of(response, protocol, request)
    return splitter is not None and any(map(protocol.is_terminal, framing.cut(delivered, splitter)))
