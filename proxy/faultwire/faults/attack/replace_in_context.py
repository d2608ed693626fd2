"""`replace_in_context`: a marked place in what is handed to the model becomes an attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import RequestFault, RewrittenText
from faultwire.faults.attack._spans import SpanSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.wire.editing.api import TextPlace


class ReplaceInContext(SpanSettings, RequestFault):
    """Replace a span of what the model reads by a payload.

    What it does:
        Like [`replace`](#replace), but in the request to the model: in retrieved documents and everything
        else that an agent puts into the system prompt, the user's messages or tools' results. What the model
        said itself stays. It stands there in every later request.

    Why agents break:
        Retrieval pastes documents next to the question, and whoever wrote one of them speaks to the model.

    Real-world source:
        Wikis, forums and knowledge bases that many people write, indexed as they are.

    Example:
        faults:
          - replace_in_context: {find: "<CANARY>", families: [task_shift]}
            on: {kind: llm}
    """

    name: ClassVar[str] = "replace_in_context"

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """Every text that holds a span, except for the model's own."""
        made = []
        for place in texts:
            if place.role == "assistant":
                continue
            text, canary = self.replaced(place.text, dice)
            if text is not None:
                made.append(RewrittenText(place, text, f"a span of a {place.role} text replaced", canary))
        return made
