"""The invariant that a pattern matches the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from faultwire.checks._api import Check, quoted
from faultwire.checks._once import compiled
from faultwire.events import Verdict

if TYPE_CHECKING:
    from faultwire.events import History

_SHOWN = 80
"""Characters of a match that a verdict's value keeps."""


def _compiles(pattern: str) -> str:
    compiled(pattern)
    return pattern


class Regex(Check):
    """A regular expression matches somewhere in the answer.

    What it judges:
        The final answer. `.` matches line ends too, and case matters unless the pattern says
        `(?i)`. The engine takes linear time: no pattern and no answer can hang it; look-around and
        back-references do not exist in it.

    Why agents fail it:
        An answer cut before the part that the pattern asks for, or another format than the one
        agreed on.

    What it cannot tell:
        Whether a match is true.

    Example:
        invariants:
          - {type: regex, pattern: '\\b391\\b', severity: critical}
    """

    name = "regex"
    reads_answer = True
    pattern: Annotated[str, Field(min_length=1, description="the pattern"), AfterValidator(_compiles)]

    def judge(self, history: History, answer: str) -> Verdict:
        """Search for the pattern."""
        span = compiled(f"(?s){self.pattern}").search(answer)
        if span is None:
            return Verdict("fail", f"{quoted(self.pattern)} does not match the answer {quoted(answer)}")
        match = answer[span[0] : span[1]]
        return Verdict("pass", f"{quoted(self.pattern)} matches {quoted(match)}", match[:_SHOWN])
