"""`agent_down`: another agent is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Kind, Reset
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._wire import error_answer
from faultwire.wire.a2a.jsonrpc import is_card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class AgentDown(Fault):
    """Let another agent be gone.

    What it does:
        Never asks the agent. `refused` ends the connection with a reset before a byte of an answer, as if
        nothing were listening; `unavailable` answers 503, as what stands before an agent does; `broken`
        answers 500 with the protocol's own internal error (-32603 over JSON-RPC). Its card is gone
        with it, unless `card` is false: then the agent can still be found, but not be spoken to.

    Why agents break:
        An orchestrator that waits for one of its agents stops as a whole, or drops that part of the work
        and reports success. A second agent that could do the same was never asked.

    Real-world source:
        Deployments, crashed containers and partitions between clusters; agents of other companies, whose
        outages nobody announces.

    Example:
        faults:
          - agent_down: {how: unavailable}
            on: {edge: "planner->writer"}
            trigger: {after_calls: 1}
    """

    name: ClassVar[str] = "agent_down"
    site: ClassVar[Site] = "response"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)
    answers: ClassVar[bool] = True

    how: Annotated[
        Literal["refused", "unavailable", "broken"], Field(description="what the caller meets")
    ] = "refused"
    card: Annotated[bool, Field(description="whether its card is gone, too")] = True

    def inapplicable(self, exchange: Exchange) -> str | None:
        """A card can be left out."""
        why = super().inapplicable(exchange)
        if why is None and not self.card and is_card(exchange.request):
            return "the card is read, and `card` is false"
        return why

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the agent is called."""
        if self.how == "refused":
            return _Gone()
        status = 503 if self.how == "unavailable" else 500
        return Answered(error_answer(exchange, status), f"answered {status} for {exchange.agent}")


class _Gone(Mutator):
    def before(self) -> Iterable[Action]:
        self.effect = "refused before the agent was called"
        yield Reset()
