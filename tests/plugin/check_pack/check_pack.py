"""`polite`: manners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire import Check, Verdict

if TYPE_CHECKING:
    from faultwire import History


class Polite(Check):
    """The agent says please.

    What it judges:
        The final answer.

    Why agents fail it:
        Nobody told them.

    What it cannot tell:
        Whether it is meant.

    Example:
        invariants:
          - {type: polite, word: "bitte"}
    """

    name = "polite"
    evidence = "answer"
    reads_answer = True
    word: Annotated[str, Field(description="the word to say")] = "please"

    def judge(self, history: History, answer: str) -> Verdict:
        """Listen for the word."""
        said = self.word in answer
        return Verdict("pass" if said else "fail", f"it {'says' if said else 'does not say'} {self.word}")
