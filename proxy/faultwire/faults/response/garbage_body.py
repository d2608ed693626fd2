"""`garbage_body`: bytes without a meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._mutators import BodyEdit
from faultwire.faults._wire import no_body

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

MOST = 65_536
"""Bytes of garbage, at most; a longer body is shortened."""


class GarbageBody(Fault):
    """Deliver bytes that are no text.

    What it does:
        Upstream is called, and as many arbitrary bytes take the place of its body. They are no UTF-8,
        and chosen by the dice, so that the same seed gives the same garbage.

    Why agents break:
        Decoding fails before parsing does: Python raises an error that no SDK wraps, JavaScript goes on
        with replacement characters and hands them to the model.

    Real-world source:
        Doubly compressed answers, encrypted bodies that were never decrypted, wrong memory.

    Example:
        faults:
          - garbage_body:
            on: {kind: tool}
    """

    name: ClassVar[str] = "garbage_body"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a whole body is replaced; single events are another fault's."""
        return super().inapplicable(exchange) or no_body(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the body."""
        return BodyEdit(lambda body: garbage(dice, len(body)), "body replaced with bytes that are no text")


def garbage(dice: FaultDice, length: int) -> bytes:
    """So many bytes, the first of which never begins a character."""
    length = min(max(1, length), MOST)
    some = bytes(int(dice.unit(f"byte {at}") * 256) for at in range(min(length, 251)))
    return b"\xff" + (some * (length // len(some) + 1))[: length - 1]
