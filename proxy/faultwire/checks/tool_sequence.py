"""The invariant that tools are used in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._tools import uses
from faultwire.checks._transcripts import models

if TYPE_CHECKING:
    from faultwire.events import History, Verdict

Name = Annotated[str, Field(min_length=1)]


class ToolSequence(Check):
    """Tools are used in a given order.

    What it judges:
        Executions as `tool_called` sees them. The tools of `tools` must occur in this order, with others
        in between; with `exact: true` there must be no others.

    Why agents fail it:
        A step is skipped once the one before it failed: paid without the check, sent without the draft.

    What it cannot tell:
        The order of tools that are called at the same time.

    Example:
        invariants:
          - {type: tool_sequence, tools: [lookup_order, check_policy, refund], severity: high}
    """

    name = "tool_sequence"
    evidence = "tools"
    tools: Annotated[tuple[Name, ...], Field(min_length=1, description="their names in order")]
    exact: Annotated[bool, Field(description="whether no other tool may be used")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare the order."""
        used = uses(history)
        if not used and not models(history) and not any(e.kind == "tool" for e in history.exchanges):
            return unknown("no exchange with a model or a tool could be read")
        names = [use.name for use in used]
        if self.exact:
            held, at = tuple(names) == self.tools, 0
        else:
            at = 0
            for name in names:
                at += at < len(self.tools) and name == self.tools[at]
            held = at == len(self.tools)
        words = f"the tools were used as {quoted(', '.join(names) or 'none', 160)}"
        if not held:
            words += f", expected {quoted(', '.join(self.tools), 160)}"
        return judged(held, words, names[:100], sorted({use.number for use in used}))
