"""The invariant that models are not asked too often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._calls import calls, doubt, possible_calls
from faultwire.text import counted
from faultwire.wire.transcript.fetched_answers import is_fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.checks._calls import Call
    from faultwire.events import History, Verdict


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
        if self.count_retries:
            found = fewest = [e.number for e in asked]
        else:
            found, fewest = _first_attempts(calls(asked)), _first_attempts(possible_calls(asked))
        low, high = len(fewest), len(found)
        called = f"models were called {f'{low} to {high} times' if low < high else counted(high, 'time')}"
        if low <= self.max < high:
            return unknown(f"{called}: {doubt(asked)}", high)
        return judged(high <= self.max, f"{called}, the maximum is {self.max}", high, found)


def _first_attempts(found: Sequence[Call]) -> list[int]:
    """The numbers of the requests that are no attempt of an earlier one. An SDK that a loop starts again
    counts its own attempts from 0 again, so its counter alone would make each round a call."""
    return [call.tries[0].number for call in found if not call.continues]
