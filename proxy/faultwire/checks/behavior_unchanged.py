"""The invariant that a broken world does not change the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from faultwire.checks._alike import compared
from faultwire.checks._api import Check, When, unknown

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class BehaviorUnchanged(Check):
    """The answer says the same as while nothing was broken.

    What it judges:
        The final answer against a baseline, as `similarity` does. `auto` is the answer that the agent gave
        to the same prompt in the calm scenario of the same run; else `baseline` is the text itself.

    Why agents fail it:
        A failure that silently becomes another fact: a guess in place of the tool's result, half of a
        list, a default.

    What it cannot tell:
        Which of the two answers is right. An agent whose calm answers vary fails by itself: repeat the run.

    Example:
        invariants:
          - {type: behavior_unchanged, baseline: auto, when: any_chaos_active}
    """

    name = "behavior_unchanged"
    reads_answer = True
    when: Annotated[When, Field(description="in which scenarios it is judged")] = "any_chaos_active"
    baseline: Annotated[str, Field(min_length=1, description="`auto`, or the text")] = "auto"
    similarity_threshold: Annotated[
        float | None, Field(ge=0, le=1, description="the least score: under it the answer is different")
    ] = None
    engine: Annotated[Literal["words", "semantic"], Field(description="what is compared")] = "words"

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare with the baseline, if there is one."""
        if self.baseline != "auto":
            return compared(self.baseline, answer, "the baseline", self.similarity_threshold, self.engine)
        if history.baseline is None:
            return unknown("no run of the same prompt without faults gave an answer to compare with")
        return compared(history.baseline, answer, "the calm answer", self.similarity_threshold, self.engine)
