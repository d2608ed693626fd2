"""The invariant that no pattern matches the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from faultwire.checks._api import Check, judged, quoted
from faultwire.checks._once import compiled
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


def _compiles(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        if not pattern:
            raise ValueError("an empty pattern matches every answer")
        compiled(pattern)
    return patterns


class ExcludesPattern(Check):
    """None of the patterns matches anywhere in the answer.

    What it judges:
        The final answer, with regular expressions of linear time; `.` matches line ends too, and case
        does not matter unless `case_sensitive` is set.

    Why agents fail it:
        A stack trace, a raw JSON error or a system prompt handed to the user when something failed.

    What it cannot tell:
        Whether the match is quoted in order to refuse it.

    Example:
        invariants:
          - {type: excludes_pattern, patterns: ['Traceback', 'HTTP [45]\\d\\d'], severity: high}
    """

    name = "excludes_pattern"
    reads_answer = True
    patterns: Annotated[
        tuple[str, ...], Field(min_length=1, description="the patterns"), AfterValidator(_compiles)
    ]
    case_sensitive: Annotated[bool, Field(description="whether case matters")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Search for each pattern."""
        flags = "(?s)" if self.case_sensitive else "(?si)"
        for pattern in self.patterns:
            span = compiled(flags + pattern).search(answer)
            if span is not None:
                words = f"{quoted(pattern)} matches {quoted(answer[span[0] : span[1]])}"
                return judged(False, words, pattern)
        return judged(True, f"none of {counted(len(self.patterns), 'pattern')} matches the answer")
