"""`slow_first_token`: a stream that takes its time to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Send, Wait
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import Milliseconds
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class SlowFirstToken(Fault):
    """Let time pass before the first event of a stream.

    What it does:
        Delivers the response head at once, waits `ms`, then passes the stream on as it comes.

    Why agents break:
        The call looks as if it had succeeded, so no limit on connecting applies; a user interface
        shows an empty answer, and users ask again.

    Real-world source:
        Long prompts, cold starts and reasoning models: tens of seconds before the first token.

    Example:
        faults:
          - slow_first_token: {ms: 8000}
            on: {kind: llm}
    """

    name: ClassVar[str] = "slow_first_token"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    ms: Annotated[Milliseconds, Field(gt=0, description="the wait before the first event")]

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a stream has a first event."""
        return super().inapplicable(exchange) or no_stream(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _SlowStart(self.ms)


class _SlowStart(Mutator):
    def __init__(self, ms: float) -> None:
        self._ms = ms

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self.effect is None:
            self.effect = f"first event delayed by {self._ms:g} ms"
            yield Wait(self._ms / 1000)
        yield Send(chunk.data)
