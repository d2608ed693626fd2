"""Which events of a stream a fault is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from faultwire.faults._api import Fault, Need, Site
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Chunk, Exchange


class EventFault(Fault):
    """A fault on single events; keep-alives and comments are never among them."""

    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    at: Annotated[int | None, Field(ge=1, le=1_000_000, description="which event, counted from 1")] = None
    share: Annotated[float | None, Field(gt=0, le=1, description="or: the share of all events")] = None

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if (self.at is None) == (self.share is None):
            found = "neither" if self.at is None else "both"
            raise ValueError(f"found {found} of `at` and `share`, expected one")
        return self

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a stream has events."""
        return super().inapplicable(exchange) or no_stream(exchange)


class Picker:
    """Says of each event, in order, whether it is one of those."""

    def __init__(self, fault: EventFault, dice: FaultDice) -> None:
        self._fault = fault
        self._dice = dice
        self.number = 0
        """Events seen so far."""

    def picks(self, chunk: Chunk) -> bool:
        """Is this one of them? Asked once per event."""
        if chunk.unit != "event" or _keeps_alive(chunk.data):
            return False
        self.number += 1
        if self._fault.at is not None:
            return self.number == self._fault.at
        return self._dice.unit(f"event {self.number}") < (self._fault.share or 0)


def _keeps_alive(event: bytes) -> bool:
    """A comment, or fields that tell a client nothing by themselves."""
    for line in event.splitlines():  # noqa: SIM110 - no generator: this is asked of every event
        if line and not line.startswith((b":", b"id:", b"retry:")):
            return False
    return True
