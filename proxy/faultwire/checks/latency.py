"""The invariant that the agent is fast enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, ending, judged, unknown

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class Latency(Check):
    """The agent answers within a time.

    What it judges:
        The wall time of the whole invocation, from the start of the process (or the request to the
        agent) to its end. Waiting that a fault caused is part of it: that is what a user would feel.

    Why agents fail it:
        No timeout on a model or tool that hangs, retries that add up, tools called one after another.

    What it cannot tell:
        Where the time went; the report's exchanges show it.

    Example:
        invariants:
          - {type: latency, max_ms: 10000}
    """

    name = "latency"
    max_ms: Annotated[int, Field(gt=0, description="milliseconds that it may take")]

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare the duration."""
        agent = history.agent
        if agent is None or (agent.exit_code is None and not agent.timed_out):
            return unknown("the agent's run time is unknown")
        took = agent.duration_s * 1000
        if agent.timed_out:
            held = False if took > self.max_ms else None
            if held is None:
                return unknown(f"the agent {ending(agent)}, before {self.max_ms} ms were over", took)
        return judged(
            took <= self.max_ms, f"it took {took:.0f} ms, allowed are {self.max_ms}", round(took, 3)
        )
