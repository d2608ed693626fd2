"""The invariant that a tool is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._tools import uses
from faultwire.checks._transcripts import models
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class ToolCalled(Check):
    """A tool is really used, not only talked about.

    What it judges:
        Executions: the tool's own exchange over HTTP or MCP, or its result in a later request to the
        model. What a client repeats after a failure counts once, and so does a result that a conversation
        repeats; an agent that begins anew and executes again is counted again. At least `min` and at most
        `max`.

    Why agents fail it:
        The model answers from memory once a tool was slow or failed, or it calls a tool again and again.

    What it cannot tell:
        Whether the result was used. A call that the model asked for and whose result nobody sent is none.
        Of conversations that are held at the same time, word for word and with the same ids, one is counted.

    Example:
        invariants:
          - {type: tool_called, tool: search, max: 3}
    """

    name = "tool_called"
    evidence = "tools"
    tool: Annotated[str, Field(min_length=1, description="its name")]
    min: Annotated[int, Field(ge=1, description="how often at least")] = 1
    max: Annotated[int | None, Field(ge=1, description="how often at most")] = None

    def judge(self, history: History, answer: str) -> Verdict:
        """Count its executions."""
        found = [use.number for use in uses(history) if use.name == self.tool]
        if not found and not models(history) and not any(e.kind == "tool" for e in history.exchanges):
            return unknown("no exchange with a model or a tool could be read")
        held = self.min <= len(found) and (self.max is None or len(found) <= self.max)
        most = "" if self.max is None else f" and at most {self.max}"
        words = (
            f"{quoted(self.tool)} was used {counted(len(found), 'time')}, expected at least {self.min}{most}"
        )
        return judged(held, words, len(found), found)
