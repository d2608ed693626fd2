"""What a stage of the pipeline is, and what the stages of one exchange share.

A request goes down the list of stages; the response comes back up it, so that the first stage sees what
the agent gets. A stage overrides the methods that it needs, and is not asked for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.exchange.fault_chain import FaultChain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Action, Exchange, FaultFired, Request, Response, Side
    from faultwire.exchange.conversation import Conversation
    from faultwire.exchange.request_out import SessionContext
    from faultwire.wire.protocol import Protocol


class ExchangeState:
    """What the stages of one exchange share.

    `exchange` holds the request as the agent sent it, `request` the one to forward. `chain` holds the
    faults that were decided on, its `answer` and whether it has `ended` the exchange. `conversation` is
    known where the profile attacks conversations.
    """

    __slots__ = (
        "chain",
        "context",
        "conversation",
        "exchange",
        "is_viewed",
        "protocol",
        "request",
        "response",
        "unread",
        "withheld",
    )

    def __init__(self, context: SessionContext, exchange: Exchange, protocol: Protocol | None) -> None:
        self.context = context
        self.exchange = exchange
        self.protocol = protocol
        self.request: Request = exchange.request
        self.response: Response | None = None
        """The head that came, where no stage is asked about it."""
        self.chain = FaultChain()
        self.conversation: Conversation | None = None
        self.is_viewed = False
        """Is the exchange's view all that can be seen of its request?"""
        self.unread: str | None = None
        """Why nobody looked into the request's body, where that is so."""
        self.withheld: str | None = None
        """Why the request is not sent, where only what needs no server may act on it."""


class Stage:
    """One stage for one exchange. `touches`: the response must go through it; `holds`: in one piece.
    Both are valid once `on_response_head` has returned."""

    touches = False
    holds = False

    @staticmethod
    def wanted(state: ExchangeState) -> bool:  # noqa: ARG004 - for those that ask it
        """May it have anything to do on an exchange of which no more than the head is understood?"""
        return True

    def __init__(self, state: ExchangeState) -> None:
        self.state = state

    def on_request(self) -> None:
        """The request is known: decide on it. `state.request` may be replaced."""

    def forward(self) -> Iterable[Action]:
        """What to do before the request goes on. `state.request` and the chain's answer may change."""
        return ()

    def settle_request(self) -> None:
        """Every stage has acted on the request: the last change before it goes, or is answered."""

    def on_response(self) -> Iterable[Action]:
        """What to do before the first byte of upstream's response, whose head is in `state.exchange`."""
        return ()

    def on_response_head(self, response: Response) -> Response:
        """The head to deliver, made from the one that the stage below delivers."""
        return response

    def on_data(self, actions: Iterable[Action]) -> Iterable[Action]:
        """What to do in place of what the stage below does with data from upstream."""
        return actions

    def on_message(self, actions: Iterable[Action], by: Side) -> Iterable[Action]:
        """The same for one WebSocket message, which `by` sent."""
        return actions

    def on_end(self, actions: Iterable[Action]) -> Iterable[Action]:
        """The same for what is left at the regular end of the response."""
        return actions

    def observe(self, action: Action) -> None:
        """An action is about to be carried out."""

    def finished(self) -> None:
        """The last action of the response was carried out."""

    def over(self) -> None:
        """The exchange has ended, in whatever way."""

    def ledger(self) -> Iterable[FaultFired]:
        """The stage's decisions and what came of them."""
        return ()


_NO_HOOKS = ("touches", "holds", "wanted")
HOOKS = tuple(name for name in vars(Stage) if not name.startswith("_") and name not in _NO_HOOKS)
"""The names of a stage's methods."""
