"""The invariant that models are not asked too often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._calls import calls
from faultwire.wire.transcript.fetched_answers import is_fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded, Verdict


class MaxLlmCalls(Check):
    """Models are asked at most so often.

    What it judges:
        Exchanges with models. A request that is repeated after it failed counts once, whoever repeats it
        (the SDK or a loop around it), unless `count_retries` is set. To fetch the answer of an earlier
        request by its id is no call.

    Why agents fail it:
        A loop that asks again until the tool works, a plan that begins anew after each failure.

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
        asked = tuple(e for e in history.exchanges if e.kind == "llm" and not is_fetch(e))
        found = [e.number for e in asked] if self.count_retries else _first_attempts(asked)
        held = len(found) <= self.max
        return judged(
            held, f"models were called {len(found)} times, the maximum is {self.max}", len(found), found
        )


def _first_attempts(asked: Sequence[Recorded]) -> list[int]:
    """The numbers of the requests that are no attempt of an earlier one. An SDK that a loop starts again
    counts its own attempts from 0 again, so its counter alone would make each round a call."""
    return [call.tries[0].number for call in calls(asked) if not call.tries[0].attempt]
