"""`agent_garbled`: another agent talks nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._changing import AnswerFault
from faultwire.faults._values import altered
from faultwire.faults.model.garbage import nonsense
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class AgentGarbled(AnswerFault):
    """Garble what another agent says.

    What it does:
        Replaces the texts of its messages and artifacts, whole or streamed: `nonsense` puts as many
        made-up words in their place, `wrong` changes numbers, dates and names, `cut` stops in the middle,
        `empty` leaves nothing. States, ids, files and data stay, so the task still ends as it did.

    Why agents break:
        The task says `completed`, so the caller takes what it finds and hands it to its own model, which
        makes sense of it as best it can. Mistakes of one agent become facts of the next.

    Real-world source:
        An agent whose own model was cut short or swapped; encodings that a gateway got wrong; two
        versions of an agent behind one address.

    Example:
        faults:
          - agent_garbled: {words: wrong}
            on: {agent: researcher}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "agent_garbled"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)
    did: ClassVar[str] = "what the agent said was garbled"

    words: Annotated[
        Literal["nonsense", "wrong", "cut", "empty"], Field(description="what its words become")
    ] = "nonsense"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only messages can be garbled; a card is `agent_card_spoofed`'s."""
        return super().inapplicable(exchange) or (
            "a card is read, and nothing said" if is_card(exchange.request) else None
        )

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """Other words."""
        how: dict[str, Callable[[str], str]] = {
            "nonsense": lambda text: nonsense(text, dice),
            "wrong": lambda text: altered(text, dice),
            "cut": lambda text: text[: len(text) // 2],
            "empty": lambda _: "",
        }
        return Change(text=how[self.words])
