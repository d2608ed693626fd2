"""Faults that leave messages of a history out or move them, for as long as the conversation lasts."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.errors import WireError
from faultwire.faults._api import Mutator, RequestFault
from faultwire.faults.conversation import _history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Request
    from faultwire.faults._api import RewrittenText
    from faultwire.faults.conversation._history import History
    from faultwire.wire.editing.api import TextPlace

KEPT = 4096
"""Histories of a session in which an entry has acted that are remembered."""
Unit = Literal["turns", "rounds"]
Units = Annotated[
    Unit, Field(description="of what: the user's turns, or the model's rounds of tool calls within a turn")
]


class HistoryFault(RequestFault):
    """Rearranges the messages of a request.

    Clients know nothing of it and resend their history as it was. So what was done in one request is done
    again in every later one that begins with the same messages and that the entry matches. It is worked out
    anew from the oldest such beginning on, so that the order in which requests arrive changes nothing.
    """

    protocols: ClassVar[tuple[str, ...]] = tuple(_history.ARRAYS)

    of: Units = "turns"

    @abstractmethod
    def arranged(self, history: History, order: Sequence[int], unit: float) -> list[int]:
        """The places of the messages that are sent, in their order, made of an `order` that may hold more of
        them. `unit`, in [0, 1), is the chance that this history has."""

    @abstractmethod
    def describe(self, before: Sequence[int], order: Sequence[int]) -> str:
        """What was done, in words for the ledger: places of messages before and after."""

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """No word changes."""
        return ()

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where the whole history is there, and calls stand with their results."""
        why = super().inapplicable(exchange)
        if why is not None or (exchange.response is not None and exchange.request.body is not None):
            return why
        try:
            history = _history.read(exchange)
        except _history.Unreadable as error:
            return error.why
        split = not all(history.is_paired(one) for one in self.settled(history))
        return f"a tool's call and its result do not stand in one of the {self.of}" if split else None

    def settled(self, history: History) -> list[range]:
        """The turns or rounds to which nothing is added any more: all but the newest."""
        turns = history.turns()
        if self.of == "turns":
            return turns[:-1]
        return [one for turn in turns for one in history.rounds(turn)][:-1]

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Equal histories are changed alike, in whichever call they come."""
        held = dice.dice.held(dice.fault, exchange.history, 0) if exchange.history else dice
        return _Rearranging(self, exchange, held.unit("which"))

    def watch(self, exchange: Exchange) -> Mutator:
        """A history that was changed before stays so."""
        return _Rearranging(self, exchange, None)


class _Rearranging(Mutator):
    def __init__(self, fault: HistoryFault, exchange: Exchange, unit: float | None) -> None:
        self._fault, self._exchange, self._unit = fault, exchange, unit

    def outbound(self, request: Request) -> Request:
        try:
            history = _history.read(self._exchange)
            now = _history.read(self._exchange, request.body or b"")
        except _history.Unreadable:
            return request
        places = _history.places(history, now)
        if not places:
            return request  # another entry has rewritten what stands here, and nobody knows what is where
        order, fresh = self._order(history, places)
        if order == places:
            return request
        stands = {at: place for place, at in enumerate(places)}
        try:
            changed = _history.rearranged(
                request, self._exchange.protocol or "", [stands[at] for at in order]
            )
        except WireError:
            return request
        effect = self._fault.describe(places, order)
        self.effect = effect if fresh else f"{effect}, as in an earlier request"
        return changed

    def _order(self, history: History, order: list[int]) -> tuple[list[int], bool]:
        """The places in their order, and whether this request's own turn at it changed anything."""
        if self._unit is not None:
            self.memory.setdefault(history.digests[-1], self._unit)
            while len(self.memory) > KEPT:
                del self.memory[next(iter(self.memory))]
        before = order
        for count, digest in enumerate(history.digests, 1):
            unit = self.memory.get(digest)
            before = order
            if unit is not None:
                order = self._fault.arranged(history.up_to(count), order, unit)
        return order, order != before
