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
        The final answer: a score of common words (`words`), or of meaning (`semantic`, an extra package),
        must reach `threshold`; and whatever the score, a number, unit, name, negation or opposite that
        differs makes it different. Two JSON documents are compared as JSON.

    Why agents fail it:
        A degraded model that answers another question, a fact changed on the way, an apology.

    What it cannot tell:
        With `words`, that two sentences without a word in common mean the same.

    Example:
        invariants:
          - {type: similarity, expected: "The capital of France is Paris.", threshold: 0.8}
    """

    name = "similarity"
    reads_answer = True
    expected: Annotated[str, Field(min_length=1, description="the text")]
    threshold: Annotated[
        float | None, Field(ge=0, le=1, description="the least score; 0.7 for words, 0.8 for meaning")
    ] = None
    engine: Annotated[Literal["words", "semantic"], Field(description="what is compared")] = "words"

    def judge(self, history: History, answer: str) -> Verdict:
        """Compare both."""
        least = 0.8 if self.threshold is None and self.engine == "semantic" else self.threshold
        return compared(self.expected, answer, "the expected text", least, self.engine)
