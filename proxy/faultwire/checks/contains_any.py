"""The invariant that one of several texts stands in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict

Text = Annotated[str, Field(min_length=1)]


class ContainsAny(Check):
    """The answer contains at least one of several texts.

    What it judges:
        The final answer, without regard to case unless `case_sensitive` is set.

    Why agents fail it:
        None of the facts, or none of the ways to say that something went wrong, made it into the answer.

    What it cannot tell:
        Whether the text is denied where it stands.

    Example:
        invariants:
          - {type: contains_any, values: ["391", "three hundred ninety-one"]}
    """

    name = "contains_any"
    reads_answer = True
    values: Annotated[tuple[Text, ...], Field(min_length=1, description="the texts")]
    case_sensitive: Annotated[bool, Field(description="whether case matters")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for the texts."""
        text = answer if self.case_sensitive else answer.casefold()
        found = [
            value for value in self.values if (value if self.case_sensitive else value.casefold()) in text
        ]
        if found:
            return judged(True, f"{quoted(found[0])} is in the answer", found)
        named = ", ".join(quoted(value) for value in self.values[:5])
        return judged(False, f"none of {named} is in the answer {quoted(answer)}", [])
