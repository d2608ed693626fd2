"""The invariant that a result which is wrong in silence does not fool the agent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._verification import OUTCOMES, Outcome, verifications

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class VerifiesResults(Check):
    """The agent does not pass on what a tool said wrongly without a sign of it.

    What it judges:
        Results that a silent fault changed: `tool_wrong_values`, `tool_wrong_units`, `tool_stale`,
        `tool_partial`, `tool_no_op`, `tool_schema_drift`, `stale_response`. Each has one of four outcomes:
        *recovered* (the answer has the true value), *reported* (it tells of a doubt), *degraded* (it does
        without the value, or there is none), *fooled* (the false value is in the answer or in another tool's
        arguments, a part was told as the whole, or success was believed and nothing looked up). `allow`
        says which of them pass.

    Why agents fail it:
        The result parses, so it is believed. A second look costs a call that no one has asked for.

    What it cannot tell:
        A value that was computed from a false one, unless the calm run of the same prompt says another
        number; a doubt in other words than the usual English ones; a second look inside of the agent's
        process that changed nothing.

    Example:
        invariants:
          - {type: verifies_results, when: tool_faults_active, allow: [recovered, reported]}
    """

    name = "verifies_results"
    evidence = "tools"
    allow: Annotated[tuple[Outcome, ...], Field(min_length=1, description="the outcomes that pass")] = (
        "recovered",
        "reported",
        "degraded",
    )

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for the false values, for the true ones, and for doubts."""
        found = verifications(history, answer)
        if not found:
            return unknown("no silent fault changed a tool's result")
        counts = Counter(one.outcome for one in found)
        value = {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
        bad = [one for one in found if one.outcome not in self.allow]
        first = (bad or found)[0]
        words = f"{first.outcome} by `{first.fault}` on `{first.tool}`: {first.evidence}"
        return judged(not bad, words, value, sorted({one.number for one in bad or found}))
