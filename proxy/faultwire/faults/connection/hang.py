"""`hang`: no answer comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Cut, Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class Hang(Fault):
    """Take the request and never answer.

    What it does:
        Holds the connection open without a byte, for `for_ms` or until the client gives up, then
        closes it. Upstream is not called.

    Why agents break:
        Whoever sets no time limit waits for minutes: the official SDKs allow 600 s, three times in a
        row. Meanwhile nothing is logged, and a supervisor sees a healthy process.

    Real-world source:
        Deadlocked workers, firewalls that swallow packets, queues in front of overloaded models.

    Example:
        faults:
          - hang: {for_ms: 30000}
            on: {kind: llm}
            trigger: {probability: 0.1}
    """

    name: ClassVar[str] = "hang"
    site: ClassVar[Site] = "connection"

    for_ms: Annotated[
        Milliseconds | None, Field(description="how long; `null`: until the client gives up")
    ] = None

    @property
    def final(self) -> bool:
        """Nothing comes after the silence."""
        return True

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before upstream is called."""
        return _Silent(self.for_ms)


class _Silent(Mutator):
    def __init__(self, for_ms: float | None) -> None:
        self._for_ms = for_ms

    def before(self) -> Iterable[Action]:
        if self._for_ms is None:
            self.effect = "never answered"
            yield Wait(None)
        else:
            self.effect = f"closed without an answer after {self._for_ms:g} ms"
            yield Wait(self._for_ms / 1000)
        yield Cut(clean=False)
