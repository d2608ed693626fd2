"""`agent_replaced`: a marked place in what another agent says becomes an attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Kind
from faultwire.faults._changing import AnswerFault
from faultwire.faults.attack._spans import SpanSettings
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class AgentReplaced(SpanSettings, AnswerFault):
    """Replace a span of what another agent says by a payload.

    What it does:
        Like [`replace`](#replace), in the texts of an agent's messages and artifacts, whole or streamed.
        States, ids, files and data stay.

    Why agents break:
        What a colleague says is trusted like one's own work, and it has read what strangers wrote.

    Real-world source:
        A research agent that quotes a page with orders in it to the agent that may send mail.

    Example:
        faults:
          - agent_replaced: {find: "<CANARY>", families: [tool_abuse]}
            on: {agent: researcher}
    """

    name: ClassVar[str] = "agent_replaced"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)
    did: ClassVar[str] = "a span of what the agent said was replaced"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only in messages; a card is `agent_card_spoofed`'s."""
        return super().inapplicable(exchange) or (
            "a card is read, and nothing said" if is_card(exchange.request) else None
        )

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The words with payloads in place of spans."""

        def words(text: str) -> str:
            made, _ = self.replaced(text, dice)
            return text if made is None else made

        return Change(text=words)
