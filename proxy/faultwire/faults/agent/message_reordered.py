"""`message_reordered`: a later message between agents overtakes an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Kind, Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.wire.a2a.jsonrpc import is_card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange, Response

STEP_S = 0.02
"""How often a held message looks whether another one has passed."""
_PASSED = "passed"


class MessageReordered(Fault):
    """Hold a message until later ones have been answered.

    What it does:
        Keeps a message from its agent until `overtaken_by` other messages that match the same entry have
        been answered, but no longer than `at_most_ms`. Who sends one message after the other, each after
        the answer to the last, cannot be overtaken: then the message is only late, and the ledger says so.

    Why agents break:
        Work that was split comes back in another order: the correction before the text, the cancellation
        before the order. Agents that number nothing take the last message for the newest.

    Real-world source:
        Parallel delegation, queues with several consumers, retries that come behind their successors.

    Example:
        faults:
          - message_reordered: {at_most_ms: 3000}
            on: {edge: "planner->writer"}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "message_reordered"
    site: ClassVar[Site] = "connection"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)

    overtaken_by: Annotated[int, Field(ge=1, le=100, description="how many later messages go first")] = 1
    at_most_ms: Annotated[float, Field(gt=0, le=600_000, description="the longest that it is held")] = 5000

    def inapplicable(self, exchange: Exchange) -> str | None:
        """A card is no message."""
        return super().inapplicable(exchange) or (
            "a card is read, and no message sent" if is_card(exchange.request) else None
        )

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the agent is called."""
        return _Held(self.overtaken_by, self.at_most_ms / 1000)

    def watch(self, exchange: Exchange) -> Mutator | None:
        """Counts the messages that pass."""
        return None if is_card(exchange.request) else _Passing()


class _Passing(Mutator):
    def head(self, response: Response) -> Response:
        self.memory[_PASSED] = self.memory.get(_PASSED, 0) + 1
        return response


class _Held(_Passing):
    def __init__(self, wanted: int, at_most_s: float) -> None:
        self._wanted, self._at_most_s = wanted, at_most_s

    def before(self) -> Iterable[Action]:
        began = self.memory.get(_PASSED, 0)
        for step in range(max(1, round(self._at_most_s / STEP_S))):
            passed = self.memory.get(_PASSED, 0) - began
            if passed >= self._wanted:
                others = "another message" if passed == 1 else f"{passed} other messages"
                self.effect = f"held until {others} had been answered"
                return
            held_ms = round((step + 1) * STEP_S * 1000)
            self.effect = f"held for {held_ms} ms, and not overtaken: the message was only late"
            yield Wait(STEP_S)
