"""The invariant that models are not asked too often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.wire.transcript.fetched_answers import is_fetch

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class MaxLlmCalls(Check):
    """Models are asked at most so often.

    What it judges:
        Exchanges with models. What a client repeats after a failure counts once, unless `count_retries`
        is set. To fetch the answer of an earlier request by its id is no call.

    Why agents fail it:
        A loop that asks again until the tool works, a plan that starts over after each failure.

    What it cannot tell:
        Models that run inside of the agent's process.

    Example:
        invariants:
          - {type: max_llm_calls, max: 8}
    """

    name = "max_llm_calls"
    evidence = "requests"
    max: Annotated[int, Field(ge=0, description="how often at most")]
    count_retries: Annotated[bool, Field(description="whether each attempt counts")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Count."""
        if not history.exchanges:
            return unknown("no exchange was recorded")
        found = [
            e.number
            for e in history.exchanges
            if e.kind == "llm" and not is_fetch(e) and (self.count_retries or not e.attempt)
        ]
        held = len(found) <= self.max
        return judged(
            held, f"models were called {len(found)} times, the maximum is {self.max}", len(found), found
        )
