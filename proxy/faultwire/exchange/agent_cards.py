"""Getting to know agents: a card on its way tells the session who is reached where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.wire.a2a import card as a2a_card
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.framing import content_coding

if TYPE_CHECKING:
    from faultwire.events import Request, Response, ToolCall
    from faultwire.profile.model import Profile
    from faultwire.wire.recognition.peers import Peers

MOST = 1 << 20
"""Bytes of a card that are read."""


def needs_card(profile: Profile, request: Request) -> bool:
    """Is this a card, and does the profile name agents in what its entries are on?"""
    return profile.candidates.name_agents and is_card(request)


class AgentCardObserver:
    """Listens to one card as it is delivered, without touching it."""

    def __init__(self, peers: Peers, head: Response) -> None:
        self._peers = peers
        self._head = head
        self._body = bytearray()

    def observe(self, data: bytes) -> tuple[ToolCall, ...]:
        """Take bytes as they are delivered; a card calls no tool."""
        if len(self._body) <= MOST:
            self._body += data
        return ()

    def end(self) -> tuple[ToolCall, ...]:
        """Remember whom the card introduces."""
        body = bytes(self._body)
        if self._head.status >= 300 or len(body) > MOST:
            return ()
        try:
            if content_coding.is_encoded(self._head.headers):
                body, _ = content_coding.at_once(body, self._head.headers)
            card = a2a_card.read(body)
        except WireError:
            return ()  # no card, so nobody is introduced
        self._peers.add(card.name, card.urls)
        return ()
