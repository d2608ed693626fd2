"""`overflow`: the conversation is stuffed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import RequestFault, RewrittenText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.wire.editing.api import TextPlace

_WORDS = (
    "report", "item", "status", "entry", "normal", "value", "north", "record", "series", "update", "page",
    "region", "check", "total", "minor", "batch", "field", "sample", "west", "detail",
)  # fmt: skip
_BLOCK = 97
"""Words that are rolled; longer filler repeats them."""


class Overflow(RequestFault):
    """Fill the model's context up.

    What it does:
        Adds about `inject_tokens` words of meaningless filler after the newest message of the user or a
        tool, in the request to the model. It stays there in every later request, so that the
        conversation goes on with a context that is nearly full.

    Why agents break:
        The system prompt and the first question lose their weight; providers answer with an error about
        the length, and agents that shorten their history drop the wrong half of it.

    Real-world source:
        Logs and whole files as tool results, long mail threads, attackers who want rules forgotten.

    Example:
        faults:
          - overflow: {inject_tokens: 4000}
            on: {kind: llm}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "overflow"

    inject_tokens: Annotated[
        int, Field(ge=1, le=1_000_000, description="about how many tokens are added")
    ] = 4000

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """The newest text that the model has not answered."""
        place = next((place for place in reversed(texts) if place.new), None)
        if place is None:
            return ()
        text = f"{place.text}\n\n{filler(self.inject_tokens, dice)}"
        return (RewrittenText(place, text, f"about {self.inject_tokens} tokens of filler added"),)


def filler(tokens: int, dice: FaultDice) -> str:
    """So many words without a meaning."""
    block = [dice.choice(_WORDS, f"word {at}") for at in range(min(tokens, _BLOCK))]
    whole, rest = divmod(tokens, len(block))
    return " ".join(block * whole + block[:rest])
