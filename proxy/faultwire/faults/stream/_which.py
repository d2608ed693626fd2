"""Which events of a stream a fault is about."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        if chunk.unit != "event" or _SUBSTANCE.search(chunk.data) is None:
            return False
        self.number += 1
        if self._fault.at is not None:
            return self.number == self._fault.at
        return self._drawn(self.number)

    def passing(self, events: Sequence[bytes]) -> int:
        """How many of these stand before the next one that is picked. They have been seen then; the picked
        one has not, and has yet to be asked about."""
        last = self._fault.at
        for place, event in enumerate(events):
            if last is not None and self.number >= last:
                return len(events)
            if _SUBSTANCE.search(event) is not None:
                number = self.number + 1
                if number == last or (last is None and self._drawn(number)):
                    return place
                self.number = number
        return len(events)

    def _drawn(self, number: int) -> bool:
        return self._dice.unit(f"event {number}") < (self._fault.share or 0)


class EventMutator(Mutator):
    """What a fault on single events does: nothing to those that are not picked."""

    _picker: Picker

    def passing(self, events: Sequence[bytes]) -> int:
        """Those before the next one that is picked."""
        return self._picker.passing(events)


_SUBSTANCE = re.compile(rb"(?:\A|[\r\n])(?!:|id:|retry:)[^\r\n]")
"""A line of an event that is no comment, and no field that tells a client nothing by itself."""
