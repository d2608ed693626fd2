"""`agent_slow`: another agent takes its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Kind, Send, Wait
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import Milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class AgentSlow(Fault):
    """Let another agent answer late.

    What it does:
        Waits `ms`, or somewhere within `jitter_ms` of it, before the agent is called, and
        `between_updates_ms` before each later update of a task that it streams. Nothing that it says is
        touched.

    Why agents break:
        Whole tasks have one time limit: the caller gives up, and the agent finishes work that nobody
        waits for. Asked again, it does it twice. Clients with a time limit per read of a few seconds, as
        the Python SDK's default of 5 s, give up on every task that takes longer to begin.

    Real-world source:
        Agents call models and other agents themselves: delays add up along the chain.

    Example:
        faults:
          - agent_slow: {ms: 8000, jitter_ms: 2000}
            on: {agent: writer}
    """

    name: ClassVar[str] = "agent_slow"
    site: ClassVar[Site] = "connection"
    needs: ClassVar[Need] = Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)

    ms: Annotated[Milliseconds, Field(gt=0, description="the usual wait")]
    jitter_ms: Annotated[Milliseconds, Field(description="how far waits vary, evenly")] = 0
    between_updates_ms: Annotated[Milliseconds, Field(description="before each later update")] = 0

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Roll the wait of this call."""
        jitter = dice.uniform(-self.jitter_ms, self.jitter_ms, "delay") if self.jitter_ms else 0.0
        return _Late(max(0, round(self.ms + jitter)), round(self.between_updates_ms))


class _Late(Mutator):
    def __init__(self, delay_ms: int, between_ms: int) -> None:
        self._delay_ms = delay_ms
        self._between_ms = between_ms

    def before(self) -> Iterable[Action]:
        if self._delay_ms:
            self.effect = f"delayed by {self._delay_ms} ms"
            yield Wait(self._delay_ms / 1000)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._between_ms and chunk.unit == "event" and chunk.index:
            self.effect = f"delayed by {self._delay_ms} ms, and {self._between_ms} ms before each update"
            yield Wait(self._between_ms / 1000)
        yield Send(chunk.data)
