"""The invariant that what was begun is brought to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._deeds import Deed, Step, follows, key_of, of_step, unanswered
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class Eventually(Check):
    """Each time that one step was done, another one is done after it.

    What it judges:
        Steps are executions of a tool, over HTTP, MCP or inside of the agent, and requests to an address. A
        `then` counts once it was done, for each `after` before it: one of `then` is enough. With `same` it
        must be about the same thing: equal values of these arguments.

    Why agents fail it:
        One of several agents fails or is not asked, and the others report success: reserved and never paid,
        paid and never booked, locked and never released.

    What it cannot tell:
        What is done after the agent has ended. A `then` that came back with an error of its server (5xx), or
        whose result was never seen, may have been done, so the verdict is unknown.

    Example:
        invariants:
          - {type: eventually, after: {tool: reserve}, then: [{tool: pay}, {tool: release}], same: [order]}
    """

    name = "eventually"
    evidence = "tools"
    after: Annotated[Step, Field(description="the step that obliges")]
    then: Annotated[tuple[Step, ...], Field(min_length=1, description="steps of which one must follow")]
    same: Annotated[tuple[str, ...], Field(description="arguments that must be equal in both")] = ()

    def judge(self, history: History, answer: str) -> Verdict:
        """Hold each beginning against what came later."""
        begun = [deed for deed in of_step(history, self.after) if deed.state == "done"]
        if not begun:
            return unknown(f"{self.after.text} was not seen to be done")
        keyless = [deed.number for deed in begun if key_of(deed, self.same) is None]
        if keyless:
            return unknown(f"{self.after.text} has no {' and '.join(self.same)} in exchange {keyless[0]}")
        ends = [deed for step in self.then for deed in of_step(history, step)]
        open_ = [deed for deed in begun if not self._ended(deed, ends)]
        words = " or ".join(step.text for step in self.then)
        if not open_:
            return judged(True, f"{words} came after {self.after.text}, {counted(len(begun), 'time')}", 0)
        never = [deed for deed in open_ if not self._may_be_ended(deed, ends)]
        if not never or any(unanswered(history, step) for step in self.then):
            return unknown(f"whether {words} was done after {self.after.text} was not seen")
        numbers = [deed.number for deed in never]
        found = f"{self.after.text} was done {counted(len(never), 'time')} without {words} after it"
        return judged(False, found, len(never), numbers)

    def _ended(self, begun: Deed, ends: list[Deed]) -> bool:
        wanted = key_of(begun, self.same)
        return any(
            deed.state == "done" and follows(begun, deed) and key_of(deed, self.same) == wanted
            for deed in ends
        )

    def _may_be_ended(self, begun: Deed, ends: list[Deed]) -> bool:
        wanted = key_of(begun, self.same)
        return any(
            follows(begun, deed) is not False and key_of(deed, self.same) in (wanted, None) for deed in ends
        )
