"""The invariant that the answer says what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from faultwire.checks._alike import compared
from faultwire.checks._api import Check

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class Similarity(Check):
    """The answer says the same as an expected text.

    What it judges:
        The final answer: every number, unit, name, negation, opposite and role must be the same, and each
        word must have a counterpart of its meaning. A word without one makes the check unknown, never
        passed. `threshold` is the least score besides; with `semantic` (an extra package) the score is the
        closeness of sentence embeddings, which never pass a pair. Two JSON documents are compared as JSON.

    Why agents fail it:
        A degraded model that answers another question, a fact changed on the way, an apology.

    What it cannot tell:
        Rewordings beyond its lexicon, which is English: they are unknown.

    Example:
        invariants:
          - {type: similarity, expected: "The capital of France is Paris.", threshold: 0.8}
    """

    name = "similarity"
    reads_answer = True
    expected: Annotated[str, Field(min_length=1, description="the text")]
    threshold: Annotated[
        float | None, Field(ge=0, le=1, description="the least score: under it the answer is different")
    ] = None
    engine: Annotated[Literal["words", "semantic"], Field(description="what is compared")] = "words"

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare both."""
        return compared(self.expected, answer, "the expected text", self.threshold, self.engine)
