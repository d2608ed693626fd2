"""The invariant that a step is not done twice for the same thing, whoever does it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._deeds import Step, calls, key_of, of_step, unanswered
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class AtMostOnce(Check):
    """A step is done at most once in a session, or once for each thing that it is about.

    What it judges:
        Executions of the step (a tool, or requests to an address), by all agents of the session together.
        With `same` those count together in which these arguments have equal values, whatever else differs;
        see `no_duplicate_side_effect` for repetitions that are equal as a whole. What a server did
        counts, also where its answer was lost on the way back.

    Why agents fail it:
        Two agents take the same work, a planner asks another one because the first was slow, a retry comes
        with a new id and a slightly different text.

    What it cannot tell:
        Whether the server recognises the second one. After an error of the server (5xx), or a result that was
        never seen, one more may have been done, so the verdict is unknown.

    Example:
        invariants:
          - {type: at_most_once, step: {tool: refund}, same: [order], severity: critical}
    """

    name = "at_most_once"
    evidence = "tools"
    step: Annotated[Step, Field(description="what may be done once")]
    same: Annotated[tuple[str, ...], Field(description="arguments that say what it is about")] = ()

    def judge(self, history: History, answer: str) -> Verdict:
        """Count what was done for each thing."""
        found = of_step(history, self.step)
        keys = [key_of(deed, self.same) for deed in found]
        done = Counter(
            key for deed, key in zip(found, keys, strict=True) if deed.state == "done" and key is not None
        )
        most, times = max(done.items(), key=lambda pair: pair[1], default=(None, 0))
        if times > 1:
            numbers = [
                d.number for d, key in zip(found, keys, strict=True) if key == most and d.state == "done"
            ]
            about = f" for the same {' and '.join(self.same)}" if self.same else ""
            return judged(False, f"{self.step.text} was done {counted(times, 'time')}{about}", times, numbers)
        if not found:
            if called := calls(history, self.step):
                kept = "it was refused, or" if called == 1 else "each was refused, or"
                words = f"was called {counted(called, 'time')} and not done: {kept} did not reach its server"
                return unknown(f"{self.step.text} {words}")
            if unanswered(history, self.step):
                return unknown(f"a model asked for {self.step.text}, and whether it was done was not seen")
            return unknown(f"{self.step.text} was not called")
        if None in keys:
            return unknown(f"a call of {self.step.text} has no {' and '.join(self.same)}")
        may = any(count > 1 for count in Counter(keys).values())
        if may:
            words = "may have been done twice: one was answered with a server's error, or not at all"
            return unknown(f"{self.step.text} {words}")
        if not self.same and unanswered(history, self.step):
            words = "was seen to be done once, and models asked for it more often than that"
            return unknown(f"{self.step.text} {words}")
        numbers = [deed.number for deed in found]
        bound = "" if all(deed.state == "done" for deed in found) else "at most "
        if len(found) == 1:
            return judged(True, f"{self.step.text} was done {bound}once", 1, numbers)
        words = f"was done {bound}{counted(len(found), 'time')}, each time for something else"
        return judged(True, f"{self.step.text} {words}", len(found), numbers)
