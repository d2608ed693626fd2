"""The invariant that a text stands in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, quoted
from faultwire.events import Verdict

if TYPE_CHECKING:
    from faultwire.events import History


class Contains(Check):
    """The answer contains a text.

    What it judges:
        The final answer, without regard to case unless `case_sensitive` is set.

    Why agents fail it:
        An answer cut short and passed on as whole, a tool's result left out, an apology instead of
        the fact.

    What it cannot tell:
        Whether the text is denied where it stands ("it is not Paris").

    Example:
        invariants:
          - {type: contains, value: "Paris", severity: high}
    """

    name = "contains"
    reads_answer = True
    value: Annotated[str, Field(min_length=1, description="the text")]
    case_sensitive: Annotated[bool, Field(description="whether case matters")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for the text."""
        value, text = (
            (self.value, answer) if self.case_sensitive else (self.value.casefold(), answer.casefold())
        )
        found = value in text
        words = f"{quoted(self.value)} is in the answer"
        if not found:
            words = f"{quoted(self.value)} is not in the answer {quoted(answer)}"
        return Verdict("pass" if found else "fail", words, found)
