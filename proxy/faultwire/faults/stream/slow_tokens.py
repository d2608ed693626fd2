"""`slow_tokens`: a stream that drips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from faultwire.events import Send, Wait
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import Milliseconds
from faultwire.faults._wire import no_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class SlowTokens(Fault):
    """Let time pass between the events of a stream.

    What it does:
        Passes the first event on at once and waits `ms` before each later one, give or take
        `jitter_ms`. Nothing is changed or lost.

    Why agents break:
        Time limits of SDKs count from one read to the next, so a slow drip never reaches them: a
        call that should take seconds takes minutes, and only a limit on the whole would notice.

    Real-world source:
        Providers under load stream at a few tokens per second; so do large models on small machines.

    Example:
        faults:
          - slow_tokens: {ms: 200, jitter_ms: 100}
            on: {kind: llm}
    """

    name: ClassVar[str] = "slow_tokens"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    ms: Annotated[Milliseconds, Field(description="the usual wait before an event")]
    jitter_ms: Annotated[Milliseconds, Field(description="how far waits vary, evenly")] = 0.0

    @model_validator(mode="after")
    def _not_negative(self) -> Self:
        if self.jitter_ms > self.ms:
            raise ValueError("found `jitter_ms` above `ms`, expected no negative waits")
        return self

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a stream has events."""
        return super().inapplicable(exchange) or no_stream(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return _Slow(self, dice)


class _Slow(Mutator):
    def __init__(self, settings: SlowTokens, dice: FaultDice) -> None:
        self._ms = settings.ms
        self._jitter_ms = settings.jitter_ms
        self._dice = dice

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if chunk.index:
            wait = self._ms
            if self._jitter_ms:
                wait += self._dice.uniform(-self._jitter_ms, self._jitter_ms, f"event {chunk.index}")
            if wait > 0:
                jitter = f" ± {self._jitter_ms:g}" if self._jitter_ms else ""
                self.effect = f"events delayed by {self._ms:g}{jitter} ms each"
                yield Wait(wait / 1000)
        yield Send(chunk.data)
