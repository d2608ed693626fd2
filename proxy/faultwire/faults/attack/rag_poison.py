"""`rag_poison`: a document among many is a trap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire._core import glob_match
from faultwire.faults._api import RequestFault, RewrittenText
from faultwire.faults.attack import _carrier
from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.wire.editing.api import TextPlace


class RagPoison(RequestFault):
    """Plant a payload in retrieved documents that speak of something.

    What it does:
        Adds a payload to every text of the conversation that contains `match` (a glob), wherever
        the agent puts its documents: in a tool's result, the user's message or the system prompt. It is
        encoded for what carries it and stays there in every later request.

    Why agents break:
        Retrieval brings what is similar, and an attacker writes what is similar. One poisoned passage
        among twenty is quoted like the others.

    Real-world source:
        Public wikis, support forums and product pages that are indexed as they are.

    Example:
        faults:
          - rag_poison: {match: "refund policy", families: [task_shift]}
            on: {kind: llm}
    """

    name: ClassVar[str] = "rag_poison"

    match: Annotated[Text, Field(description="what a poisoned text contains; `*` and `?` stand for any")]
    payload: Annotated[Text | None, Field(description="a text of your own; `{canary}` is filled in")] = None
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    position: Annotated[_carrier.Position, Field(description="where in the text")] = "end"
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """Every text that matches, except for the model's own."""
        mine = (self.payload,) if self.payload else None
        payload = marked(pick(mine, self.families, dice), dice, canary=self.canary)
        return [
            RewrittenText(
                place,
                _carrier.planted(place.text, payload.text, self.position),
                f"{payload.name} planted in a {place.role} text",
                payload.canary,
            )
            for place in texts
            if place.role != "assistant" and glob_match(f"*{self.match}*", place.text)
        ]
