"""The invariant that the work on the wire ends in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._order import ended_ms

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class MaxDuration(Check):
    """From the first request to the end of the last exchange no more than a time passes.

    What it judges:
        The traffic on the wire; unlike `latency` the start of the agent's process is not part of it.

    Why agents fail it:
        Retries without a deadline of the whole task, sleeping as long as a server asks.

    What it cannot tell:
        What the agent did before its first and after its last request.

    Example:
        invariants:
          - {type: max_duration, max_s: 30}
    """

    name = "max_duration"
    evidence = "requests"
    max_s: Annotated[float, Field(gt=0, description="seconds at most")]

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare the first and the last instant."""
        if not history.exchanges:
            return unknown("no exchange was recorded")
        first = min(history.exchanges, key=lambda exchange: exchange.started_ms)
        last = max(history.exchanges, key=ended_ms)
        took = (ended_ms(last) - first.started_ms) / 1000
        words = f"the traffic took {took:.2f} s, allowed are {self.max_s:g}"
        return judged(took <= self.max_s, words, round(took, 3), sorted({first.number, last.number}))
