"""The invariant that an invocation does not cost too much."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._transcripts import models
from faultwire.wire.transcript.prices import dated

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class MaxCost(Check):
    """Models cost at most so many dollars.

    What it judges:
        Tokens as the providers counted them, at the dated prices that `faultwire prices` shows. An answer
        whose price or usage is not known makes the sum a lower bound: above the limit it fails, below it
        is unknown. An answer with an error status costs nothing.

    Why agents fail it:
        Retries of long prompts, a fallback to a dearer model.

    What it cannot tell:
        Discounts, other tiers and contracts.

    Example:
        invariants:
          - {type: max_cost, max_usd: 0.05}
    """

    name = "max_cost"
    evidence = "requests"
    max_usd: Annotated[Decimal, Field(ge=0, description="dollars at most")]

    def judge(self, history: History, answer: str) -> Verdict:
        """Add up."""
        asked = [
            (e, transcript)
            for e, transcript in models(history)
            if e.upstream is not None and e.upstream.status < 300
        ]
        if not any(e.kind == "llm" for e in history.exchanges):
            return unknown("no model was called")
        total = sum((transcript.cost for _, transcript in asked if transcript.cost is not None), Decimal(0))
        days = {transcript.prices_as_of for _, transcript in asked if transcript.prices_as_of is not None}
        at = f" at {dated(days)}" if days else ""
        words = f"{total:.6f} dollars{at}, allowed are {self.max_usd}"
        unpriced = [transcript.model for _, transcript in asked if transcript.cost is None]
        if total <= self.max_usd and unpriced:
            return unknown(
                f"at least {words}; the cost with the model {quoted(unpriced[0])} is not known", str(total)
            )
        return judged(total <= self.max_usd, words, str(total), [e.number for e, _ in asked])
