"""`injection_via_context`: what is handed along with the question gives orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import RequestFault, RewrittenText
from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.wire.editing.api import TextPlace


class InjectionViaContext(RequestFault):
    """Plant instructions in the context around the user's question.

    What it does:
        Puts a payload before the user's newest message, in the request to the model, marked as a
        document that was retrieved for it: `payload`, or one of our library's `families` by the dice.
        It stays there in every later request. With `canary: true` the tape names each later request of
        the agent in which its word came back.

    Why agents break:
        Retrieved context is pasted next to the question, and nothing marks which of both may give
        orders.

    Real-world source:
        Attachments, quoted mails, pages that a browser extension sends along.

    Example:
        faults:
          - injection_via_context: {families: [override]}
            on: {kind: llm}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "injection_via_context"

    payload: Annotated[Text | None, Field(description="a text of your own; `{canary}` is filled in")] = None
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """The newest message of the user that the model has not answered."""
        place = next((place for place in reversed(texts) if place.new and place.role == "user"), None)
        if place is None:
            return ()
        mine = (self.payload,) if self.payload else None
        payload = marked(pick(mine, self.families, dice), dice, canary=self.canary)
        text = f"Retrieved document:\n{payload.text}\nEnd of document.\n\n{place.text}"
        return (RewrittenText(place, text, f"{payload.name} planted as a document", payload.canary),)
