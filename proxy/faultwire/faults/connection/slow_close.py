"""`slow_close`: the end of the answer comes late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class SlowClose(Fault):
    """Deliver the whole answer and leave its end open for a while.

    What it does:
        Passes every byte of the body on at once, then waits `ms` before it ends the message. A client
        that reads to the end of the message waits, although it has everything.

    Why agents break:
        Streams whose closing event was read are held open by clients that wait for the connection to
        end; pools run out of connections, and the next call waits for a free one.

    Real-world source:
        Proxies that keep a finished stream open, servers that log and bill before they close.

    Example:
        faults:
          - slow_close: {ms: 5000}
            on: {kind: llm, stream: true}
    """

    name: ClassVar[str] = "slow_close"
    site: ClassVar[Site] = "connection"

    ms: Annotated[Milliseconds, Field(gt=0, description="how long the end is held back")]

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte."""
        return _Lingering(self.ms)


class _Lingering(Mutator):
    def __init__(self, ms: float) -> None:
        self._ms = ms

    def finish(self) -> Iterable[Action]:
        self.effect = f"end held back for {self._ms:g} ms"
        yield Wait(self._ms / 1000)
