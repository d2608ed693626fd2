"""`message_lost`: a message between agents never arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Cut, Kind, Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Milliseconds
from faultwire.wire.a2a.jsonrpc import is_card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response


class MessageLost(Fault):
    """Lose what one agent asks of another, or what it answers.

    What it does:
        `request`: the agent is never asked. `answer`: it is asked, does its work and answers, and nothing of
        the answer arrives. Either way the caller meets the same: silence, for `for_ms` or until it gives
        up, and then a connection that ends. Cards are not lost.

    Why agents break:
        From where the caller stands the two cannot be told apart. Asking again is right after the one and
        does the work twice after the other; not asking again loses it. Only an id that both know helps.

    Real-world source:
        Messages dropped by full queues and restarted brokers, connections cut by load balancers between the
        work and its answer, agents that crash right after they committed.

    Example:
        faults:
          - message_lost: {which: answer, for_ms: 10000}
            on: {edge: "planner->writer"}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "message_lost"
    site: ClassVar[Site] = "response"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)

    which: Annotated[Literal["request", "answer"], Field(description="what does not arrive")] = "request"
    for_ms: Annotated[
        Milliseconds | None, Field(description="how long silence lasts; `null`: until the caller gives up")
    ] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """A card is no message."""
        return super().inapplicable(exchange) or (
            "a card is read, and no message sent" if is_card(exchange.request) else None
        )

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the agent is called."""
        silence = None if self.for_ms is None else self.for_ms / 1000
        return _RequestLost(silence) if self.which == "request" else _AnswerLost(silence)


class _RequestLost(Mutator):
    def __init__(self, silence_s: float | None) -> None:
        self._silence_s = silence_s

    def before(self) -> Iterable[Action]:
        self.effect = "the request was lost: the agent was not asked"
        yield Wait(self._silence_s)
        yield Cut(clean=False)


class _AnswerLost(Mutator):
    replaces = True

    def __init__(self, silence_s: float | None) -> None:
        self._silence_s = silence_s

    def head(self, response: Response) -> Response:
        self.effect = f"the answer was lost: the agent was asked, and answered {response.status}"
        return response

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """Nothing of it: its first bytes begin the silence."""
        yield Wait(self._silence_s)
        yield Cut(clean=False)

    def finish(self) -> Iterable[Action]:
        """The same for an answer without a body."""
        yield Wait(self._silence_s)
        yield Cut(clean=False)
