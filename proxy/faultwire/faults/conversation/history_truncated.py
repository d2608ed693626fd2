"""`history_truncated`: the model is sent less of the conversation than the agent sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults.conversation._rearranging import HistoryFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.faults.conversation._history import History


class HistoryTruncated(HistoryFault):
    """Leave the older part of the conversation out.

    What it does:
        Sends the model the `keep` newest turns of the conversation alone, the one that it is to answer among
        them. With `of: rounds` it is the `keep` newest rounds of tool calls in the newest turn; the question
        and older turns stay. System prompts stay in any case, and calls go together with their results. What
        was left out is left out of every later request of this conversation, too.

    Why agents break:
        What was said once, at the beginning, is gone: a name, a limit, a consent. Agents do not see it
        happen, ask for nothing again, and act on a guess.

    Real-world source:
        Memories that keep a window of messages, trimming to fit a model's context, summaries that lose a
        fact, gateways that shorten histories.

    Example:
        faults:
          - history_truncated: {keep: 1}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "history_truncated"

    keep: Annotated[int, Field(ge=1, le=1000, description="how many of the newest stay")] = 1
    keep_first: Annotated[bool, Field(description="whether the oldest stays, too")] = False

    def arranged(self, history: History, order: Sequence[int], unit: float) -> list[int]:
        """All but the older ones."""
        turns = history.turns()
        parts = turns if self.of == "turns" else [one for turn in turns[-1:] for one in history.rounds(turn)]
        older = parts[int(self.keep_first) : -self.keep]
        gone = {at for part in older for at in part if history.messages[at].kind != "system"}
        return [at for at in order if at not in gone]

    def describe(self, before: Sequence[int], order: Sequence[int]) -> str:
        """How much of it."""
        sent = len(before)
        return f"{sent - len(order)} of {sent} messages left out"
