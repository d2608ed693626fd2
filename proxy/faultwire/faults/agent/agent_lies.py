"""`agent_lies`: another agent reports what is not so, and sticks to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire._core import sha256_hex
from faultwire.events import Kind
from faultwire.faults._changing import AnswerFault
from faultwire.faults._values import altered
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class AgentLies(AnswerFault):
    """Let another agent lie, plausibly and consistently.

    What it does:
        Changes numbers, dates and well-known names in what the agent says, in the form that they had; the
        task ends as it did. Unlike `agent_garbled: {words: wrong}`, the same statement becomes the same lie
        each time, so that asking again confirms it. `to: each_caller` tells each caller another
        lie: two agents that compare notes differ, and one alone cannot find out.

    Why agents break:
        A Byzantine agent follows the protocol and is wrong. Whoever checks form, asks twice, or trusts
        a task because it completed passes the lie on; only another source shows it.

    Real-world source:
        A compromised or misconfigured agent, one that works on a stale copy, one whose model made it up.

    Example:
        faults:
          - agent_lies: {to: each_caller}
            on: {agent: researcher}
    """

    name: ClassVar[str] = "agent_lies"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)
    did: ClassVar[str] = "the agent reported other facts"

    to: Annotated[Literal["everybody", "each_caller"], Field(description="who is told the same lie")] = (
        "everybody"
    )

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only in messages; a card is `agent_card_spoofed`'s."""
        return super().inapplicable(exchange) or (
            "a card is read, and nothing said" if is_card(exchange.request) else None
        )

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """Other facts, by dice that hang on who lies, on what was said, and on who listens."""
        listener = exchange.caller or "" if self.to == "each_caller" else ""

        def lie(text: str) -> str:
            statement = sha256_hex(f"{exchange.agent}\n{listener}\n{text}".encode("utf-8", "surrogatepass"))
            return altered(text, replace(dice, key=statement, n=0))

        return Change(text=lie)
